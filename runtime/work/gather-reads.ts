// Reads by a key that many ask for in one turn of the event loop, made as one read of many keys.
import { runNextTurn } from "../ports/ambient.js";

/** Keys of one read. */
const mostKeys = 200;

/** Who waits for the value of a key; several may. */
interface Asked<Value> {
  readonly resolve: (value: Value | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Makes a function that reads the value of a key, undefined if there is none, together with the
 * other keys of its turn. `read` is told each key once; if it rejects, so does each.
 */
export function gatherReads<Value>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  let due = new Map<string, Asked<Value>[]>();

  const readSome = async (some: ReadonlyMap<string, readonly Asked<Value>[]>): Promise<void> => {
    try {
      const values = await read([...some.keys()]);
      for (const [key, all] of some) for (const { resolve } of all) resolve(values.get(key));
    } catch (error) {
      for (const all of some.values()) for (const { reject } of all) reject(error);
    }
  };
  const readDue = (): void => {
    const reading = due;
    due = new Map();
    void readSome(reading);
  };
  return (key) =>
    new Promise((resolve, reject) => {
      const asked = due.get(key);
      if (asked !== undefined) return void asked.push({ resolve, reject });
      due.set(key, [{ resolve, reject }]);
      if (due.size === 1) {
        const mine = due;
        runNextTurn(() => {
          if (due === mine) readDue();
        });
      } else if (due.size === mostKeys) readDue();
    });
}
