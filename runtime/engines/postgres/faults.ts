// Translates PostgreSQL's condition codes (SQLSTATE, manual appendix A) and connection faults to
// codes of the error table.
import { fail, ServiceError, unavailable } from "../../contract/errors.js";
import { DatabaseRefusal } from "../../ports/database.js";
import { IndexViolation } from "../sql/index-violation.js";

/**
 * Classes of faults that pass without a change of the service: connection, resources, operator
 * intervention, system errors; and standbys, and locks that somebody holds.
 */
const passing = /^(?:08|53|57P|58|25006|55P03)/;
/** The server is read-only for now: a standby, or made so to protect a full disk. */
const readsOnly = "25006";
/** Messages of `pg` about lost connections, which have no code. */
const lost =
  /terminated|timeout|not queryable|connection error|closed the connection|Client was closed|Connection ended|accepts no writes/i;

const tooLong = { path: "", keyword: "maxLength", message: "has a text too long for its index" };

/**
 * Translates a fault to an error of the error table, with the fault as its cause. A violated unique
 * index becomes an `IndexViolation`. Errors that are not PostgreSQL's are returned unchanged.
 */
export function translateFault(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code === "23505" && "constraint" in error)
    return new IndexViolation(String(error.constraint), error);
  // program_limit_exceeded: an index entry holds about 2 700 bytes at most.
  if (code === "54000") return fail("core.validation", { errors: [tooLong] }, { cause: error });
  // numeric_value_out_of_range: a percentile between two numbers that are too far apart to
  // interpolate.
  if (code === "22003") return fail("query_too_complex", {}, { cause: error });
  if (code === "40001" || code === "40P01") return fail("core.concurrency", {}, { cause: error });
  // query_canceled by `statement_timeout`, which is longer than every deadline.
  if (code === "57014") return fail("core.timeout", {}, { cause: error });
  if (losesSession(error)) return unavailable(changedSession(error));
  if (mayPass(error)) return unavailable(error);
  // insufficient_privilege: the operator has taken a right from the role, and may give it back.
  if (code === "42501")
    return unavailable(
      new DatabaseRefusal(`DATABASE_URL's role: ${describeFault(error)}`, false, error),
    );
  return /^[0-9A-Z]{5}$/.test(code) ? fail("core.infrastructure", {}, { cause: error }) : error;
}

/**
 * undefined_table: PostgreSQL doesn't tell a schema that a role may not use from one that has no
 * such table.
 */
const unknownTable = "42P01";

/**
 * A statement's error, translated once more where it says that one of the service's own tables is
 * not there: the role has lost its right to the schema, or somebody has taken the table. An
 * author's own SQL may name others, which is their defect.
 */
export function withoutTable(error: unknown, tables: readonly string[]): unknown {
  const cause = isOfTable(error) ? error.cause : error;
  if (codeOf(cause) !== unknownTable || !(cause instanceof Error)) return error;
  const name = /["«„](?:.*\.)?([a-z0-9_]+)["»“]/.exec(cause.message)?.[1] ?? "";
  if (!tables.includes(name) && !name.startsWith("opwright_")) return error;
  const text = `DATABASE_URL's role may not use the schema, or there is no table: ${describeFault(cause)}`;
  return unavailable(new DatabaseRefusal(text, false, cause));
}

/**
 * Translates why there is no connection: `core.unavailable` whatever it is, since no statement was
 * sent. `setting` has the URL; `place` is that without the password.
 */
export function translateRefusal(error: unknown, setting: string, place: string): unknown {
  if (isOfTable(error)) return error;
  const fault = describeFault(error);
  if (losesSession(error)) return unavailable(changedSession(error, setting));
  const isPooler = /unsupported startup parameter/.test(fault);
  const text = `${setting} ${place}: ${fault}${isPooler ? `: ${poolerAdvice}` : ""}`;
  return unavailable(new DatabaseRefusal(text, !isPooler && mayPass(error), error));
}

export function isOfTable(error: unknown): error is ServiceError {
  return error instanceof ServiceError;
}

/** Whether a statement failed because the server takes none that write. */
export function refusesWrites(error: unknown): boolean {
  return codeOf(error) === readsOnly || isInRecovery(error);
}

/** Whether a transaction that says that it writes was begun on a standby. */
function isInRecovery(error: unknown): boolean {
  return codeOf(error) === "0A000" && error instanceof Error && /recovery/.test(error.message);
}

/**
 * Whether a statement was prepared in another session: invalid_sql_statement_name, or
 * duplicate_prepared_statement. Only a pooler changes the session of a connection.
 */
export function losesSession(error: unknown): boolean {
  return ["26000", "42P05"].includes(codeOf(error));
}

/**
 * Whether the server says that it no longer waits for a synchronous standby: somebody cancelled the
 * statement, or it took too long. It answers COMMIT as if nothing were wrong (PostgreSQL's manual,
 * "Synchronous Replication"). `routine` is the function of PostgreSQL that says it, which is the
 * same in each language.
 */
export function givesUpStandby(routine: string | undefined): boolean {
  return routine === "SyncRepWaitForLSN";
}

/** A commit that is lost if the server is: nobody may take it for acknowledged. */
export function lonelyCommit(): ServiceError {
  return unavailable(new Error("committed, but no synchronous standby has it"));
}

const poolerAdvice = "behind a pooler in transaction mode, set DATABASE_POOLER=transaction";

/** A connection whose transactions get several sessions, which nobody has said. */
export function changedSession(error?: unknown, setting = "DATABASE_URL"): DatabaseRefusal {
  const text = `${setting}: its sessions change between transactions: ${poolerAdvice}`;
  return new DatabaseRefusal(text, false, error);
}

/** The same of the bus, to which no setting helps. */
export function changedBusSession(): DatabaseRefusal {
  const text =
    "BUS_URL, or DATABASE_DIRECT_URL: its sessions change between transactions: signals can't pass a pooler in transaction mode";
  return new DatabaseRefusal(text, false, undefined);
}

/** Migrations and their lock need a session of their own. */
export function needsDirectUrl(): ServiceError {
  const text =
    "DATABASE_DIRECT_URL: migrations need a session of their own, which a pooler in transaction mode doesn't give: name the server itself";
  return unavailable(new DatabaseRefusal(text, false, undefined));
}

/** Whether the same may succeed later, without anybody changing a setting. */
function mayPass(error: unknown): boolean {
  const code = codeOf(error);
  return (
    passing.test(code) ||
    isInRecovery(error) ||
    /^E(?:CONN|PIPE|TIMEDOUT|HOST|NET|ADDR|MFILE|NFILE|AI_AGAIN|NOTFOUND)/.test(code) ||
    (error instanceof Error && lost.test(error.message))
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** An error in one line. Several addresses of one host fail together, with a message each. */
function describeFault(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeFault).join("; ");
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  const message = error.message.replaceAll(/\s+/g, " ");
  return code === "" || message.includes(code) ? message : `${message} (${code})`;
}
