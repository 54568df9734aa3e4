// What work was waiting for when its deadline passed: whoever reads the log at night looks there
// first.
import { ServiceError } from "../contract/errors.js";

/** What work waits for that its own code does not do; `code` is that. */
export type WaitedFor = "the database" | "the object store" | "a free thread" | "the body" | "code";

/** Why work has missed its deadline. */
export class Overdue extends Error {
  readonly waitsFor: WaitedFor;

  constructor(waitsFor: WaitedFor) {
    const what = waitsFor === "code" ? "its own code ran" : `it waited for ${waitsFor}`;
    super(`the deadline passed while ${what}`);
    this.waitsFor = waitsFor;
  }
}

/**
 * What a line of the log says of the error: what the work was waiting for at its deadline, nothing
 * for any other.
 */
export function waitedFor(error: unknown): { readonly waitedFor?: WaitedFor } {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  return cause instanceof Overdue ? { waitedFor: cause.waitsFor } : {};
}
