// A time limit on an answer of the server.
import { unavailable } from "../../contract/errors.js";
import { within } from "../../work/within.js";

/** Settles as `work` does; rejects with `core.unavailable` if that takes longer than `millis`. */
export function answeredIn<T>(millis: number, work: Promise<T>): Promise<T> {
  return within(millis, work, () => unavailable(new Error("the database does not answer")));
}
