// Preconditions (RFC 9110 §13): If-Match, If-None-Match and the two dates, evaluated in the same
// way on every route.
import { fail } from "../contract/errors.js";

/** Header fields of a request that make it depend on a version, as they were sent. */
export interface Preconditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly ifModifiedSince?: string;
  readonly ifUnmodifiedSince?: string;
}

export const noPreconditions: Preconditions = {};

/**
 * What conditions compare of a version: its tag without quotes, and when it was made, in
 * milliseconds.
 */
export interface Validators {
  readonly etag: string;
  /**
   * The version itself, where the tag also says in which form it is answered: writers of any form
   * may name it.
   */
  readonly revision?: string;
  readonly modifiedAt: number | undefined;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const fields = [
  ["ifMatch", "if-match"],
  ["ifNoneMatch", "if-none-match"],
  ["ifModifiedSince", "if-modified-since"],
  ["ifUnmodifiedSince", "if-unmodified-since"],
] as const;

/** The preconditions among the headers of a request, whose names are in lower case. */
export function readPreconditions(headers: Headers): Preconditions {
  let given: { -readonly [Name in keyof Preconditions]: Preconditions[Name] } | undefined;
  for (const [name, field] of fields) {
    const value = headers[field];
    if (typeof value === "string") (given ??= {})[name] = value;
  }
  return given ?? noPreconditions;
}

/**
 * Whether a read need not send the version, since its caller has it (304). Throws
 * `precondition_failed` if the caller asks for another version. The order is that of §13.2.2:
 * entity tags take precedence over dates.
 */
export function isUnchanged(preconditions: Preconditions, version: Validators): boolean {
  if (preconditions === noPreconditions) return false;
  checkMatch(preconditions, version);
  const { ifNoneMatch, ifModifiedSince } = preconditions;
  if (ifNoneMatch !== undefined) return listsTag(ifNoneMatch, version.etag);
  const date = httpDate(ifModifiedSince);
  return date !== null && secondOf(version) <= date;
}

/** Checks the conditions of a write to an existing version. Throws `precondition_failed`. */
export function checkPreconditions(preconditions: Preconditions, version: Validators): void {
  if (preconditions === noPreconditions) return;
  checkMatch(preconditions, version);
  const { ifNoneMatch } = preconditions;
  if (ifNoneMatch !== undefined && listsVersion(ifNoneMatch, version))
    throw fail("precondition_failed", { header: "If-None-Match" });
}

function checkMatch({ ifMatch, ifUnmodifiedSince }: Preconditions, version: Validators): void {
  if (ifMatch !== undefined) {
    if (listsVersion(ifMatch, version)) return;
    throw fail("precondition_failed", { header: "If-Match" });
  }
  const date = httpDate(ifUnmodifiedSince);
  if (date !== null && secondOf(version) > date)
    throw fail("precondition_failed", { header: "If-Unmodified-Since" });
}

/**
 * Whether a header lists a version, in whatever form it was answered: by this release, or by one
 * beside it.
 */
function listsVersion(header: string, { etag, revision }: Validators): boolean {
  return listsTag(header, etag) || (revision !== undefined && listsRevision(header, revision));
}

/**
 * Whether a header is `*`, or lists a tag of a document's revision: `"3"`, or `"3-2"` for its
 * second form, each perhaps with the document's id: `"3.0197…"`.
 */
export function listsRevision(header: string, revision: string): boolean {
  if (header.trim() === "*") return true;
  return [...header.matchAll(/(?:W\/)?"(\d+)(?:-\d+)?(?:\.[\da-f-]{36})?"/g)].some(
    ([, listed]) => listed === revision,
  );
}

/**
 * Whether a header is `*`, or lists the tag. Weak tags count by their opaque part in If-Match as
 * well: one is the strong tag of the same version, weakened where the answer was compressed, by us
 * or a proxy (decisions.md §1 "Documents").
 */
export function listsTag(header: string, etag: string): boolean {
  if (header.trim() === "*") return true;
  for (const [, opaque] of header.matchAll(/(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g))
    if (opaque === etag) return true;
  return false;
}

/**
 * When a version was made, in whole seconds as HTTP dates are. NaN, which compares to nothing, if
 * unknown.
 */
export function secondOf({ modifiedAt }: Validators): number {
  return modifiedAt === undefined ? Number.NaN : Math.floor(modifiedAt / 1000);
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

/**
 * Seconds since 1970 of a date in one of the three forms of RFC 9110 §5.6.7; null if it is none.
 */
export function httpDate(text: string | undefined): number | null {
  if (text === undefined || !dates.some((form) => form.test(text))) return null;
  const millis = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(millis) ? null : millis / 1000;
}
