// What a `wrap` hook passes on is held to what the operation takes: what doesn't fit is a fault of
// the author's, and never stored.
import { ServiceError } from "../contract/errors.js";
import type { ValidationFault } from "../contract/validation.js";

/**
 * Throws a fault of the service if a hook has passed on an input that doesn't fit; `check` gives
 * its faults, or throws what the same input of a caller would be refused with.
 */
export function expectFit(
  operationId: string,
  check: () => readonly ValidationFault[] | null | undefined,
): void {
  let faults: unknown;
  try {
    faults = check() ?? null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    faults = { code: error.code, ...error.context };
  }
  if (faults === null) return;
  const told = JSON.stringify(faults);
  throw new TypeError(`a wrap hook of ${operationId} passed on what does not fit: ${told}`);
}
