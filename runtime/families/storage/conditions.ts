// What a download depends on: preconditions, and the range with its own condition (RFC 9110
// §13.1.5, §14).
import {
  httpDate,
  secondOf,
  type Preconditions,
  type Validators,
} from "../../operations/preconditions.js";

/** Header fields of a request that decide about a download, as they were sent. */
export interface Conditions extends Preconditions {
  readonly ifRange?: string;
  readonly range?: string;
}

/**
 * Whether `If-Range` lets the range count (RFC 9110 §13.1.5): the very version, by a strong
 * validator.
 */
export function rangeCounts(
  ifRange: string | undefined,
  version: Validators,
  now: number,
): boolean {
  if (ifRange === undefined) return true;
  if (/^(?:W\/)?"/.test(ifRange)) return ifRange === `"${version.etag}"`;
  const modified = secondOf(version);
  // A second in which there may have been two versions tells none of them (§8.8.2.2).
  return httpDate(ifRange) === modified && Math.floor(now / 1000) > modified;
}
