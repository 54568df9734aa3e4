// Why an attempt has failed, as people read it.
import { ServiceError } from "../../contract/errors.js";
import { missingAwait } from "../../operations/calls.js";
import { isError, messageOf } from "../../operations/thrown.js";
import { isOver } from "../../ports/lifetime.js";
import { storableText } from "./storable.js";

/**
 * The reason, in a text that every engine stores. `overdueSeconds` is how long the attempt might
 * take if it has taken longer, null otherwise: what it has called may be overdue as well.
 */
export function reasonOf(fault: unknown, overdueSeconds: number | null): string {
  const missing = missingAwait(fault);
  if (missing !== null) return storableText(missing);
  if (overdueSeconds !== null && isOver(fault)) return `it took longer than ${overdueSeconds} s`;
  if (!(fault instanceof ServiceError)) return storableText(withCause(fault));
  // What is answered with an error from 500 up says nothing; its cause does.
  const said = fault.cause === undefined ? messageOf(fault) : withCause(fault.cause);
  return storableText(`${fault.code}: ${said}`);
}

/** `fetch failed: connect ECONNREFUSED 127.0.0.1:1`. */
function withCause(fault: unknown): string {
  const message = messageOf(fault);
  const cause = isError(fault) ? fault.cause : undefined;
  if (!isError(cause)) return message;
  const further = messageOf(cause);
  return further === "" || message.includes(further) ? message : `${message}: ${further}`;
}
