// Whether something is still to come: handlers may answer at once, which spares a turn of the event loop.

/** A promise, an author's own kind included. */
export function isPending<T>(value: T | Promise<T>): value is Promise<T> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
