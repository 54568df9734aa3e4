// Walking through JSON that a client sent, and naming the places in it.
import { pointerToken } from "../contract/validation.js";

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A JSON Pointer (RFC 6901) with one more token. */
export function pointer(base: string, token: string): string {
  return `${base}/${pointerToken(token)}`;
}
