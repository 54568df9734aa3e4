// The keys of runs, as they are stored: those that authors' code gives, and those of `unique`.
import { createHash } from "node:crypto";
import type { JobDeclaration } from "./spec.js";

/** Characters of a key. */
export const longestKey = 500;
const keyPrefix = "key ";

/** A key as it is stored, apart from those that `unique` makes. */
export function storedKey(key: string): string {
  return `${keyPrefix}${key}`;
}

/** The key that an author's code has given; null if it has given none. */
export function givenKey(stored: string | null): string | null {
  return stored?.startsWith(keyPrefix) === true ? stored.slice(keyPrefix.length) : null;
}

/** The values of the `unique` members of an input as a key; null if there are none. */
export function uniqueKey(unique: JobDeclaration["unique"], input: unknown): string | null {
  if (unique === undefined) return null;
  const members = input as Readonly<Record<string, unknown>>;
  const text = JSON.stringify(unique.map((name) => members[name] ?? null));
  // No index takes a text of any length.
  const short = text.length <= longestKey ? text : createHash("sha256").update(text).digest("hex");
  return `unique ${short}`;
}
