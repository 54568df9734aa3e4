// Requests of the pages themselves.
import { credentials } from "./tokens.js";

/** What the service says of a fault. */
export class RequestError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
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
  if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as T;
  const { code, detail } = envelopeOf(text);
  throw new RequestError(response.status, code ?? String(response.status), detail ?? text);
}

/** The envelope of an error; nothing of what a proxy answers in its place. */
function envelopeOf(text: string): { readonly code?: string; readonly detail?: string } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
