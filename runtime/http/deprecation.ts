// The headers of a deprecated operation's answers: Deprecation (RFC 9745) and Sunset (RFC 8594).
import type { ServerResponse } from "node:http";
import type { HttpBinding } from "../operations/operation.js";

/** Sets the headers on an answer, whether it succeeds or fails. */
export function announceDeprecation(
  res: ServerResponse,
  { since, sunset }: NonNullable<HttpBinding["deprecated"]>,
): void {
  res.setHeader("Deprecation", `@${Date.parse(since) / 1_000}`);
  if (sunset !== undefined) res.setHeader("Sunset", new Date(sunset).toUTCString());
}
