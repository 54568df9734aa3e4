// A time limit on an answer of the server.
import { unavailable } from "../../contract/errors.js";
import { within } from "../../work/within.js";

/** Milliseconds to wait at least for an answer to what ends a transaction. */
export const settleMillis = 1_000;

/** Settles as `work` does; rejects with `core.unavailable` if that takes longer than `millis`. */
export function answeredIn<T>(millis: number, work: Promise<T>): Promise<T> {
  return within(millis, work, () => unavailable(new Error("the database does not answer")));
}
