// The port of counters that live in the database: how far numbers have been given away.
import { storeKey } from "./store-key.js";

/** Which counter: a name within the service, and a key below it. */
export interface Counter {
  readonly name: string;
  /** "" for what belongs to no tenant. */
  readonly tenant: string;
  readonly key: string;
}

/** The key of the store below. */
export const counterStore = storeKey<CounterStore>("counters");

/** Counters within one transaction. */
export interface CounterStore {
  /**
   * Takes the next `count` numbers, and returns the first of them; it is `start` at least. Other
   * transactions that want the same counter wait until this one ends, and if it is undone, so is
   * this. Taking none only makes others wait.
   */
  take(counter: Counter, count: number, start: number): Promise<number>;
  /** The counters with a name, and the last number that each has given away. */
  list(name: string): Promise<readonly (Counter & { readonly last: number })[]>;
}
