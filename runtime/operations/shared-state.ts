// What contexts of one invocation share: the running transaction, and what ends with it.
import type { Transaction } from "../ports/database.js";
import type { CommitTurns } from "../work/commit-turns.js";
import { atNoEnd, type TransactionEnd } from "./transaction-end.js";

export interface SharedState {
  /** The running transaction, whichever of the contexts has begun it. */
  running: Transaction | undefined;
  /** What is left to do at its end, and what it has changed. */
  ending: TransactionEnd;
  /** Transactions that the author's code has begun. */
  turns: CommitTurns | undefined;
}

/** Outside of any transaction. */
export function sharedState(): SharedState {
  return { running: undefined, ending: atNoEnd, turns: undefined };
}

/** Runs what a transaction does: until it has, all who share the invocation are within it. */
export async function runWithin<T>(
  state: SharedState,
  transaction: Transaction,
  ending: TransactionEnd,
  work: () => Promise<T>,
): Promise<T> {
  state.ending = ending;
  state.running = transaction;
  try {
    return await work();
  } finally {
    state.running = undefined;
  }
}
