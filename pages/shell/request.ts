// Requests of the pages themselves.
import { credentials } from "./tokens.js";

/** What the service says of a fault. */
export class RequestError extends Error {
  readonly code: string;

  constructor(code: string, detail: string) {
    super(detail);
    this.code = code;
  }
}

/** Resolves with the JSON of an answer; rejects with a `RequestError`. */
export async function requestJson<T>(method: string, path: string, body?: unknown): Promise<T> {
  const hasBody = body !== undefined;
  const response = await fetch(path, {
    method,
    headers: { ...(hasBody ? { "content-type": "application/json" } : {}), ...credentials() },
    ...(hasBody ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  const answer = text === "" ? undefined : JSON.parse(text);
  if (!response.ok)
    throw new RequestError(answer?.code ?? String(response.status), answer?.detail ?? text);
  return answer as T;
}
