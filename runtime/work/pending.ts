// Whether a value is still pending: handlers may answer at once, which saves a turn of the event
// loop.

/** A promise, or anything else with a `then`. */
export function isPending<T>(value: T | Promise<T>): value is Promise<T> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
