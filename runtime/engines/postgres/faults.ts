// PostgreSQL's condition codes (SQLSTATE, appendix A of its manual) and faults of its connections as codes of the error table.
import { fail, ServiceError, unavailable } from "../../contract/errors.js";
import { IndexViolation } from "../sql/index-violation.js";

/** Classes of conditions that pass: connections, resources, operator's interventions, faults of its system. */
const passing = /^(?:08|53|57P|58)/;
/** A server that is read-only for now: a standby, or one whose disk is guarded (25006). */
const readsOnly = "25006";
/** What `pg` says of connections that are gone; it gives no codes. */
const lost =
  /terminated|timeout|not queryable|connection error|closed the connection|Client was closed|Connection ended/i;

const tooLong = { path: "", keyword: "maxLength", message: "has a text too long for its index" };

/** The fault as a code of the error table; what is no fault of PostgreSQL stays as it is. */
export function translated(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  if (code === "23505" && "constraint" in error)
    return new IndexViolation(String(error.constraint), error);
  // An index holds no text of more than about 2 700 bytes.
  if (code === "54000") return fail("core.validation", { errors: [tooLong] }, { cause: error });
  // A number that no longer fits: two of a list of percentiles are too far apart.
  if (code === "22003") return fail("query_too_complex", {}, { cause: error });
  if (code === "40001" || code === "40P01") return fail("core.concurrency", {}, { cause: error });
  // The server's own limit of a statement, beyond every deadline.
  if (code === "57014") return fail("core.timeout", {}, { cause: error });
  const isPassing =
    passing.test(code) ||
    code === readsOnly ||
    /^E(?:CONN|PIPE|TIMEDOUT|HOST|NET|ADDR|MFILE|NFILE|AI_AGAIN|NOTFOUND)/.test(code) ||
    lost.test(error.message);
  if (isPassing) return unavailable(error);
  return /^[0-9A-Z]{5}$/.test(code) ? fail("core.infrastructure", {}, { cause: error }) : error;
}
