// What an author's code has thrown may be anything, and reading it may throw again: here it can't
// (decisions.md §4 "Faults that nobody holds").
import { inspect } from "node:util";

/** Characters of a value that was thrown and is no error. */
const maxThrown = 200;

/** Whether it is an error; a proxy may throw where its prototype is asked for. */
export function isError(thrown: unknown): thrown is Error {
  return read(() => thrown instanceof Error) ?? false;
}

/** The stack of an error; undefined if it has none, or none that can be read. */
export function stackOf(thrown: unknown): string | undefined {
  const stack: unknown = isError(thrown) ? read(() => thrown.stack) : undefined;
  return typeof stack === "string" ? stack : undefined;
}

/** The message of an error, the text of anything else. */
export function messageOf(thrown: unknown): string {
  const text: unknown = read(() => (thrown instanceof Error ? thrown.message : String(thrown)));
  return typeof text === "string" ? text : describedThrown(thrown);
}

/** A value that was thrown and is no error, as a person would look at it. */
export function describedThrown(thrown: unknown): string {
  const text = read(() => inspect(thrown, { depth: 1 })) ?? "a value that can't be read";
  return text.slice(0, maxThrown);
}

/** What `look` finds; undefined if it throws. */
function read<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
