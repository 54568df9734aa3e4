// One call of a webhook: bounded in time and bytes, without redirects, to public addresses alone.
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isCallable, lookupPublic, type Reach } from "./address.js";

/** Milliseconds for the whole call. */
const patienceMillis = 10_000;
/** Bytes that are read of an answer, of which only the status counts. */
const mostBytes = 64 * 1024;

/** POSTs a body and returns the status. Rejects where there is no answer in time, or the address is not allowed. */
export function call(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  reach: Reach,
): Promise<number> {
  if (!isCallable(url, reach)) return Promise.reject(new Error("the address is not public"));
  const send = url.startsWith("https:") ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const asking = send(url, {
      method: "POST",
      headers: { ...headers, "content-length": bytes.length, "user-agent": "opwright-webhooks" },
      // A connection that stays open would outlive the check of its address.
      agent: false,
      ...(reach === "public" ? { lookup: lookupPublic } : {}),
    });
    const timer = setTimeout(() => {
      asking.destroy(new Error(`no answer within ${patienceMillis / 1000} s`));
    }, patienceMillis);
    asking.on("close", () => clearTimeout(timer));
    asking.on("error", reject);
    asking.on("response", (response) => {
      let read = 0;
      response.on("data", (chunk: Buffer) => {
        read += chunk.length;
        if (read > mostBytes) response.destroy();
      });
      // The status counts and the rest changes nothing, but the call is under way until the answer has ended.
      response.on("error", () => undefined);
      response.on("close", () => resolve(response.statusCode ?? 0));
    });
    asking.end(bytes);
  });
}
