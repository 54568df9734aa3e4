// Reads by a key that many ask for in one turn of the event loop, made as one read of many keys.
import { runNextTurn } from "../ports/ambient.js";
import { Lifetime } from "../ports/lifetime.js";

/** Keys of one read. */
const mostKeys = 200;

type ReadKeys<Value> = (
  keys: readonly string[],
  lifetime: Lifetime,
) => Promise<ReadonlyMap<string, Value>>;

/** One read, and who waits for it. It ends when the last of them has left. */
class Batch<Value> {
  readonly keys = new Set<string>();
  readonly values: Promise<ReadonlyMap<string, Value>>;
  begin: () => void = () => undefined;
  #waiting = 0;
  #tellGone: (() => void) | undefined;

  constructor(read: ReadKeys<Value>) {
    const begun = new Promise<void>((resolve) => {
      this.begin = resolve;
    });
    const lifetime = new Lifetime(Infinity, {
      isGone: () => this.#waiting === 0,
      onGone: (listener) => {
        this.#tellGone = listener;
        if (this.#waiting === 0) listener();
      },
    });
    this.values = begun.then(() => read([...this.keys], lifetime));
    // All may have left.
    this.values.catch(() => undefined);
  }

  async valueOf(key: string, lifetime: Lifetime): Promise<Value | undefined> {
    this.keys.add(key);
    this.#waiting += 1;
    try {
      return (await lifetime.race(this.values, "the database")).get(key);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#tellGone?.();
    }
  }
}

/**
 * Makes a function that reads the value of a key, undefined if there is none, together with the
 * other keys of its turn. `read` is told each key once; if it rejects, so does each. Who asks waits
 * no longer than its own lifetime.
 */
export function gatherReads<Value>(
  read: ReadKeys<Value>,
): (key: string, lifetime: Lifetime) => Promise<Value | undefined> {
  let due: Batch<Value> | undefined;
  const begin = (batch: Batch<Value>): void => {
    if (due === batch) due = undefined;
    batch.begin();
  };
  const openBatch = (): Batch<Value> => {
    const batch = new Batch(read);
    runNextTurn(() => begin(batch));
    return batch;
  };
  return (key, lifetime) => {
    const batch = (due ??= openBatch());
    const value = batch.valueOf(key, lifetime);
    if (batch.keys.size === mostKeys) begin(batch);
    return value;
  };
}
