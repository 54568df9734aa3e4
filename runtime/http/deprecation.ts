// What answers of a deprecated operation tell of its days: Deprecation (RFC 9745) and Sunset (RFC 8594).
import type { ServerResponse } from "node:http";
import type { HttpBinding } from "../operations/operation.js";

/** Puts the headers on an answer, whichever it will be. */
export function announceDeprecation(
  res: ServerResponse,
  { since, sunset }: NonNullable<HttpBinding["deprecated"]>,
): void {
  res.setHeader("Deprecation", `@${Date.parse(since) / 1_000}`);
  if (sunset !== undefined) res.setHeader("Sunset", new Date(sunset).toUTCString());
}
