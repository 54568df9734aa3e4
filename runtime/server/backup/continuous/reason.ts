// Why a store or a disk has failed, in a line for the log and the doctor.
import { ServiceError } from "../../../contract/errors.js";

/** The same each time for the same reason: without the names of temporary files. */
export function tellReason(error: unknown): string {
  const cause = innermost(error);
  if (!(cause instanceof Error)) return String(cause);
  const { code, syscall } = cause as NodeJS.ErrnoException;
  if (code !== undefined && syscall !== undefined) return `${code} (${syscall})`;
  // The SDK of AWS knows the name of what it has no message for.
  return ["", "UnknownError"].includes(cause.message) ? cause.name : cause.message;
}

function innermost(error: unknown): unknown {
  const isWrapped = error instanceof ServiceError || error instanceof Error;
  return isWrapped && error.cause !== undefined ? innermost(error.cause) : error;
}
