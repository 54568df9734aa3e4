// Posts a JSON body twice with Java's HTTP client as it is: it asks for h2c by Upgrade. Prints what it is answered.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class HttpClientPost {
  public static void main(String[] args) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(args[0]))
            .header("Authorization", "Bearer " + args[1])
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(args[2]))
            .build();
    for (int round = 0; round < 2; round += 1) {
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      System.out.println(response.statusCode() + " " + response.version());
    }
  }
}
