// Faults of SQLite as codes of the error table (https://www.sqlite.org/rescode.html).
import { fail, ServiceError, unavailable } from "../../contract/errors.js";
import { IndexViolation } from "../sql/index-violation.js";

/** What passes, or can be mended without this process: the same request may succeed later. */
const passing = new Set([
  "SQLITE_BUSY",
  "SQLITE_LOCKED",
  "SQLITE_FULL",
  "SQLITE_IOERR",
  // What a disk that fails to read looks like.
  "SQLITE_CORRUPT",
  "SQLITE_NOTADB",
  "SQLITE_READONLY",
  "SQLITE_CANTOPEN",
  "SQLITE_NOMEM",
  "SQLITE_PERM",
  "SQLITE_PROTOCOL",
]);

/** Whether the statement was ended from outside. */
export function isInterrupted(error: unknown): boolean {
  return primaryCode(error) === "SQLITE_INTERRUPT";
}

/** Whether another process holds the database. */
export function isBusy(error: unknown): boolean {
  return error instanceof ServiceError && primaryCode(error.cause) === "SQLITE_BUSY";
}

/** The fault as an error of the table; one that is one already stays. */
export function translated(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const violated = violatedIndex(error);
  if (violated !== undefined) return new IndexViolation(violated, error);
  return passing.has(primaryCode(error))
    ? unavailable(error)
    : fail("core.infrastructure", {}, { cause: error });
}

/** The primary code: `SQLITE_IOERR` of `SQLITE_IOERR_FSYNC`. */
export function primaryCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as { readonly code?: unknown };
  const text = typeof code === "string" ? code : "";
  return /^SQLITE_[A-Z]+/.exec(text)?.[0] ?? "";
}

/** What a message of SQLite says was violated: an index over expressions by its name, one over columns by these. */
function violatedIndex(error: unknown): IndexViolation["index"] | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, index, columns] =
    /UNIQUE constraint failed: (?:index '(.+)'|(.+))/.exec(error.message) ?? [];
  return index ?? columns?.split(", ").map((column) => column.slice(column.indexOf(".") + 1));
}
