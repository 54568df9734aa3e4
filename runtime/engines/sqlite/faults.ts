// Translates SQLite's faults to codes of the error table (https://www.sqlite.org/rescode.html).
import { fail, ServiceError, unavailable } from "../../contract/errors.js";
import { IndexViolation } from "../sql/index-violation.js";

/** Faults that pass or can be fixed from outside, so that the same request may succeed later. */
const passing = new Set([
  "SQLITE_BUSY",
  "SQLITE_LOCKED",
  "SQLITE_FULL",
  "SQLITE_IOERR",
  // This is how a disk with read errors shows.
  "SQLITE_CORRUPT",
  "SQLITE_NOTADB",
  "SQLITE_READONLY",
  "SQLITE_CANTOPEN",
  "SQLITE_NOMEM",
  "SQLITE_PERM",
  "SQLITE_PROTOCOL",
]);

/** Whether the statement was interrupted. */
export function isInterrupted(error: unknown): boolean {
  return primaryCode(error) === "SQLITE_INTERRUPT";
}

/** Whether another process holds the database's lock. Takes an error that has been translated. */
export function isBusy(error: unknown): boolean {
  return error instanceof ServiceError && primaryCode(error.cause) === "SQLITE_BUSY";
}

/**
 * Translates a fault to an error of the error table, with the fault as its cause; such an error is
 * returned unchanged.
 */
export function translateFault(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const violated = violatedIndex(error);
  if (violated !== undefined) return new IndexViolation(violated, error);
  if (isTooDeep(error)) return fail("query_too_complex", {}, { cause: error });
  return passing.has(primaryCode(error))
    ? unavailable(error)
    : fail("core.infrastructure", {}, { cause: error });
}

/**
 * The primary code of a fault, such as `SQLITE_IOERR` of `SQLITE_IOERR_FSYNC`; "" if there is none.
 */
function primaryCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as { readonly code?: unknown };
  const text = typeof code === "string" ? code : "";
  return /^SQLITE_[A-Z]+/.exec(text)?.[0] ?? "";
}

/** Whether a statement has more levels than SQLite's parser bears, which filters bring about. */
function isTooDeep(error: unknown): boolean {
  return error instanceof Error && error.message === "parser stack overflow";
}

/**
 * The index that SQLite's message says was violated: an index on expressions by its name, one on
 * columns by theirs.
 */
function violatedIndex(error: unknown): IndexViolation["index"] | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, index, columns] =
    /UNIQUE constraint failed: (?:index '(.+)'|(.+))/.exec(error.message) ?? [];
  return index ?? columns?.split(", ").map((column) => column.slice(column.indexOf(".") + 1));
}
