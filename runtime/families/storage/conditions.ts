// Conditional requests (RFC 9110 §13): what If-Match, If-None-Match and their like say of one version of an object.

/** Header fields of a request that decide about a download, as they were sent. */
export interface Conditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly ifModifiedSince?: string;
  readonly ifUnmodifiedSince?: string;
  readonly ifRange?: string;
  readonly range?: string;
}

/** What of a version can be compared; `modifiedAt` in milliseconds, of which a date has whole seconds. */
export interface Validators {
  readonly etag: string;
  readonly modifiedAt: number;
}

/** Whether the request goes on (`proceed`), is refused (`failed`: 412), or has the version already (`unchanged`: 304). */
export function evaluateConditions(
  { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince }: Conditions,
  { etag, modifiedAt }: Validators,
): "proceed" | "failed" | "unchanged" {
  const modified = Math.floor(modifiedAt / 1000);
  // The order of RFC 9110 §13.2.2: entity tags take precedence over dates.
  if (ifMatch !== undefined) {
    if (!lists(ifMatch, etag, "strong")) return "failed";
  } else {
    const date = httpDate(ifUnmodifiedSince);
    if (date !== null && modified > date) return "failed";
  }
  if (ifNoneMatch !== undefined) return lists(ifNoneMatch, etag, "weak") ? "unchanged" : "proceed";
  const date = httpDate(ifModifiedSince);
  return date !== null && modified <= date ? "unchanged" : "proceed";
}

/** Whether `If-Range` lets the range count (RFC 9110 §13.1.5): the very version, by a strong validator. */
export function rangeCounts(
  ifRange: string | undefined,
  { etag, modifiedAt }: Validators,
  now: number,
): boolean {
  if (ifRange === undefined) return true;
  if (/^(?:W\/)?"/.test(ifRange)) return ifRange === `"${etag}"`;
  const modified = Math.floor(modifiedAt / 1000);
  // A second in which there may have been two versions tells none of them (§8.8.2.2).
  return httpDate(ifRange) === modified && Math.floor(now / 1000) > modified;
}

function lists(header: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (header.trim() === "*") return true;
  for (const [, weak, opaque] of header.matchAll(/(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g))
    if (opaque === etag && (comparison === "weak" || weak === undefined)) return true;
  return false;
}

const months = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
const dates = [
  new RegExp(
    `^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d{2} (?:${months}) \\d{4} \\d{2}:\\d{2}:\\d{2} GMT$`,
  ),
  new RegExp(
    `^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d{2}-(?:${months})-\\d{2} \\d{2}:\\d{2}:\\d{2} GMT$`,
  ),
  new RegExp(
    `^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:${months}) [ \\d]\\d \\d{2}:\\d{2}:\\d{2} \\d{4}$`,
  ),
];

/** Seconds since 1970 of a date in one of the three forms of RFC 9110 §5.6.7; null where it is none. */
export function httpDate(text: string | undefined): number | null {
  if (text === undefined || !dates.some((form) => form.test(text))) return null;
  const millis = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(millis) ? null : millis / 1000;
}
