// What is sent for a call, and what came back.
import { credentials } from "../shell/tokens.js";
import { mediaTypeOf, type Call } from "../openapi/first-call.js";
import type { Operation } from "../openapi/operations.js";

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | FormData | null;
}

/** The request of a call, without the credentials of who is signed in. */
export function requestOf(operation: Operation, call: Call): Sent {
  const valuesIn = (place: string): readonly (readonly [string, string])[] =>
    operation.parameters
      .filter(({ in: where }) => where === place)
      .map(({ name }) => [name, call.parameters[`${place} ${name}`] ?? ""] as const)
      .filter(([, value]) => value !== "");
  const path = operation.path.replace(
    /\{(\+?)([^}]+)\}/g,
    (_all, isWhole: string, name: string) => {
      const value = call.parameters[`path ${name}`] ?? "";
      return isWhole === ""
        ? encodeURIComponent(value)
        : value.split("/").map(encodeURIComponent).join("/");
    },
  );
  const query = new URLSearchParams(
    valuesIn("query").map(([name, value]) => [name, value]),
  ).toString();
  const type = mediaTypeOf(operation);
  return {
    method: operation.method,
    url: `${location.origin}${path}${query === "" ? "" : `?${query}`}`,
    headers: {
      ...(type === null || type === "multipart/form-data" ? {} : { "Content-Type": type }),
      ...Object.fromEntries(valuesIn("header")),
    },
    body: type === null ? null : bodyOf(type, call, valuesIn("form")),
  };
}

function bodyOf(
  type: string,
  { body, file }: Call,
  parts: readonly (readonly [string, string])[],
): string | FormData {
  if (type !== "multipart/form-data") return body;
  const form = new FormData();
  for (const [name, value] of parts) form.set(name, value);
  if (file !== null) form.set("file", file);
  return form;
}

export interface Outcome {
  readonly status: number;
  readonly statusText: string;
  readonly millis: number;
  readonly headers: string;
  readonly text: string;
  /** The address of an answer that is no text. */
  readonly download: string | null;
}

/** Sends a call with the token of who is signed in. */
export async function send(operation: Operation, call: Call): Promise<Outcome> {
  const { method, url, headers, body } = requestOf(operation, call);
  const begun = performance.now();
  const response = await fetch(url, {
    method,
    headers: { ...credentials(), ...headers },
    ...(body === null || method === "GET" || method === "HEAD" ? {} : { body }),
  });
  const blob = await response.blob();
  const millis = Math.round(performance.now() - begun);
  const type = response.headers.get("content-type") ?? "";
  const isText = /json|text|xml/.test(type) && !response.headers.has("content-disposition");
  return {
    status: response.status,
    statusText: response.statusText,
    millis,
    headers: [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n"),
    text: isText ? laidOut(await blob.text()) : "",
    download: isText || blob.size === 0 ? null : URL.createObjectURL(blob),
  };
}

/** JSON with a member a line; other text as it is. */
function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
