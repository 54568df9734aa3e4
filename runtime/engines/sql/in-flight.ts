// The error of a write whose exclusive name another write holds (decisions.md "Idempotency").
import { fail, type ServiceError } from "../../contract/errors.js";

/**
 * The error that an engine throws if another write holds the name: `idempotency_in_flight`, to be
 * retried after a second.
 */
export function inFlight(): ServiceError {
  return fail("idempotency_in_flight", {}, { headers: { "Retry-After": "1" } });
}
