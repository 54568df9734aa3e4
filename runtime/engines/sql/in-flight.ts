// The refusal of a second write under one exclusive name (decisions.md "Idempotency").
import { fail, type ServiceError } from "../../contract/errors.js";

/** What an engine throws where another write holds the name. */
export function inFlight(): ServiceError {
  return fail("idempotency_in_flight", {}, { headers: { "Retry-After": "1" } });
}
