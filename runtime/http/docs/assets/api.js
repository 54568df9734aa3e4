// /docs: Swagger UI over the service's own document, with the token of who is signed in.
/* global SwaggerUIBundle */
import { credentials, session } from "./session.js";

await session();
SwaggerUIBundle({
  url: "/openapi.json",
  domNode: document.getElementById("main"),
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  requestInterceptor(request) {
    // What was given to Swagger UI itself goes before.
    request.headers = { ...credentials(), ...request.headers };
    return request;
  },
});
