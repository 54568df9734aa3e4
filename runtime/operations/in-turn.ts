// Writes of one transaction one after another, whoever began them beside each other.
import type { Transaction } from "../ports/database.js";

const turns = new WeakMap<Transaction, Promise<unknown>>();

/** Writes once those before it in the same transaction have: what is refused of one would be undone of another beside it. */
export function inTurn<T>(transaction: Transaction, write: () => Promise<T>): Promise<T> {
  const before = turns.get(transaction) ?? Promise.resolve();
  const turn = before.then(write, write);
  turns.set(transaction, turn);
  return turn;
}
