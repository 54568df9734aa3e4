// What the sets of identity have in common: reading members of lines, and adding lines one by one.
import { importing, refuseLine, uuidAt } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import type { Transaction } from "../../ports/database.js";
import { identityStore, type Principal } from "../../ports/identity.js";
import { walkPages } from "../../ports/pages.js";

/** Rows that are read at once. */
export const pageSize = 1_000;

/** The members of a line. */
export type LineMembers = Readonly<Record<string, unknown>>;

/** A text that isn't empty. */
export function textAt(members: LineMembers, name: string): string {
  const value = members[name];
  if (typeof value === "string" && value !== "") return value;
  return refuseLine(`/${name}`, "type", "must be a text that isn't empty");
}

/** A UUID in its canonical form. */
export function uuidOf(members: LineMembers, name: string): string {
  return uuidAt(members[name], `/${name}`);
}

/** True or false; true where nothing is said. */
export function flagOf(members: LineMembers, name: string): boolean {
  const value = members[name] ?? true;
  return typeof value === "boolean" ? value : refuseLine(`/${name}`, "type", "must be boolean");
}

/** Adds lines one by one in one transaction; returns how many `add` says were added. */
export async function addEach<Line>(
  { write }: ServiceAtWork,
  lines: readonly Line[],
  add: (line: Line, transaction: Transaction) => Promise<boolean>,
): Promise<number> {
  return write(importing, async ({ transaction }) => {
    let added = 0;
    for (const line of lines) if (await add(line, transaction)) added += 1;
    return added;
  });
}

/** Values in the order of their JSON text. */
export function inOrder<Value>(values: readonly Value[]): readonly Value[] {
  return values
    .map((value) => [JSON.stringify(value), value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, value]) => value);
}

/** All principals, in the order of their ids. */
export function allPrincipals({ database }: ServiceAtWork): AsyncGenerator<Principal> {
  return walkPages(
    pageSize,
    (after: string | null) => database.reader.of(identityStore).listPrincipals(after, pageSize),
    ({ id }) => id,
  );
}
