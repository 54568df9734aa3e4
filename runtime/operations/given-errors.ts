// Errors that the runtime has given to an author's code, which may throw them again wherever it
// likes.
import { ServiceError } from "../contract/errors.js";
import { isError } from "./thrown.js";

const given = new WeakSet<object>();

/** Notes that the author's code gets this error, and returns it. */
export function giveError(error: unknown): unknown {
  if (typeof error === "object" && error !== null) given.add(error);
  return error;
}

/**
 * Whether an error says nothing of where it was thrown last: the author's code had it before, or it
 * is one of the table, which are made to be answered with.
 */
export function isGiven(error: unknown): boolean {
  return error instanceof ServiceError || (isError(error) && given.has(error));
}
