// The request of a call: its address, its headers and its body, from the members of the input.
import { ApiError } from "./error.js";
import type { CallOptions, Client, Operation } from "./options.js";

/** What is sent. */
type Body = string | FormData | URLSearchParams | Blob | null;

export type Input = Readonly<Record<string, unknown>>;

/** The request for an input. Throws before anything is sent if a value can't be sent. */
export function requestOf(
  client: Client,
  operation: Operation,
  input: Input,
  options: CallOptions,
): { readonly url: string; readonly body: Body; readonly headers: Headers } {
  checkAddress(client);
  const used = new Set<string>(operation.query);
  const path = operation.path.replace(/\{(\+?)([^}]+)\}/g, (_, plus: string, name: string) => {
    used.add(name);
    return pathText(name, input[name], plus === "+");
  });
  const query = (operation.query ?? []).flatMap((name) => {
    const text = textOf(name, input[name]);
    return text === undefined ? [] : `${name}=${encodeURIComponent(text)}`;
  });
  const headers = new Headers(client.headers);
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    const text = textOf(name, value);
    if (text !== undefined) headers.set(name, text);
  }
  if (operation.repeats === "keyed")
    headers.set("idempotency-key", options.idempotencyKey ?? randomKey());
  const rest = Object.entries(input).filter(([name]) => !used.has(name));
  const body = bodyOfRequest(operation, input, rest);
  if (typeof body === "string") headers.set("content-type", "application/json");
  const asked = query.length === 0 ? "" : `?${query.join("&")}`;
  return { url: `${client.baseUrl}${path}${asked}`, headers, body };
}

/**
 * Refuses an address that leads nowhere; one without a host is of the page, or of the application's
 * own `fetch`.
 */
function checkAddress({ baseUrl, fetch: own }: Client): void {
  const isPath = /^(\/(?!\/)|$)/.test(baseUrl);
  if (isPath && (own !== undefined || "location" in globalThis)) return;
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/i.test(new URL(baseUrl).href)) throw new Error(baseUrl);
}

/**
 * The text of a member in a path, a query, a header or a form. Undefined if it is left out, or
 * null, which no text stands for. Throws for values that would arrive as something else.
 */
function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return scalarText(name, value);
  // A list is its items with commas between them: none is no text, and an item has no comma.
  const items = value.map((item: unknown) => scalarText(name, item));
  if (items.length === 0 || items.some((item) => item.includes(",")))
    throw new ApiError("client.invalid", `${name} is empty, or has a comma`);
  return items.join(",");
}

function scalarText(name: string, value: unknown): string {
  const plain = value instanceof Date ? value.toJSON() : value;
  const isText = ["string", "boolean", "bigint"].includes(typeof plain) || Number.isFinite(plain);
  if (!isText) throw new ApiError("client.invalid", `${name} cannot be text`);
  return String(plain);
}

/** A member as part of a path. A segment that is empty or dots would lead to another operation. */
function pathText(name: string, value: unknown, hasSegments: boolean): string {
  const text = textOf(name, value) ?? "";
  const segments = hasSegments ? text.split("/") : [text];
  if (segments.some((segment) => ["", ".", ".."].includes(segment)))
    throw new ApiError("client.invalid", `${name} cannot be in a path`);
  return segments.map(encodeURIComponent).join("/");
}

function bodyOfRequest(
  { body }: Operation,
  input: Input,
  rest: readonly (readonly [string, unknown])[],
): Body {
  if (body === undefined) return null;
  if (typeof body === "object") {
    const value = input[body.member];
    return value instanceof Blob ? value : JSON.stringify(value ?? null);
  }
  if (body === "input") return JSON.stringify(input);
  if (body === "rest") return JSON.stringify(Object.fromEntries(rest));
  // Both take texts in the same way, and a form without files has no Blob.
  const form = new (body === "form" ? FormData : URLSearchParams)() as FormData;
  // Files stand behind the fields.
  for (const [name, value] of rest) {
    const text = value instanceof Blob ? undefined : textOf(name, value);
    if (text !== undefined) form.set(name, text);
  }
  for (const [name, value] of rest) if (value instanceof Blob) form.set(name, value);
  return form;
}

/**
 * Random letters and digits, which are no secret; `crypto.randomUUID` is missing on plain HTTP, all
 * of it on some platforms.
 */
export function randomKey(): string {
  const random = (): number => Math.random() * 256;
  const bytes = new Uint8Array(16).map(random);
  globalThis.crypto?.getRandomValues(bytes);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
