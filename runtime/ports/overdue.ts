// What work was waiting for when its deadline passed: whoever reads the log at night looks there first.
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

/** What the work was waiting for at its deadline; undefined for any other error. */
export function waitedForAtDeadline(error: unknown): WaitedFor | undefined {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  return cause instanceof Overdue ? cause.waitsFor : undefined;
}
