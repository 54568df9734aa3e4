// Many small writes as few larger ones: what is given while one is under way goes with the next.

/** An item that waits, and who waits for it. */
interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Makes a function that writes one item, together with others that wait. `write` returns a result
 * for each item, in their order; if it rejects, so does each.
 */
export function writeTogether<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let isWriting = false;

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    // What is given in the same turn goes with it.
    await Promise.resolve();
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      try {
        const results = await write(taken.map(({ item }) => item));
        // One for each, in order.
        for (const [at, one] of taken.entries()) one.resolve(results[at] as Result);
      } catch (error) {
        for (const one of taken) one.reject(error);
      }
    }
    isWriting = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isWriting) void writeAll();
    });
}
