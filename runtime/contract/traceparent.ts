// Where a request is in a trace, as others say it (W3C Trace Context §3.2).

/**
 * A `traceparent` as the version that we know prints it; undefined for a text that is none. Of
 * later versions, the ids and the flag of recorded traces are read, which they have too (§4.3).
 */
export function readTraceparent(text: unknown): string | undefined {
  if (typeof text !== "string" || text.length > longest) return undefined;
  const [, version, ids = "", flags = "", more = ""] = pattern.exec(text) ?? [];
  if (version === undefined || (version === "00" && more !== "")) return undefined;
  if (version === "00") return text;
  return `00-${ids}-0${Number.parseInt(flags, 16) & 1}`;
}

/** What later versions append is nothing to us, however long. */
const longest = 512;
const pattern =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
