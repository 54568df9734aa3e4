// What is left to do at the end of a transaction, and what it has changed.
import type { Following } from "./following.js";
import type { Transaction } from "../ports/database.js";
import type { Recorded, SaidNote } from "./recorded.js";

/** What a transaction leaves to do. Parts of it that are undone take theirs along. */
export class TransactionEnd {
  readonly onCommit: Following[] = [];
  readonly onUndo: Following[] = [];
  readonly recorded: Recorded[] = [];
  readonly notes: SaidNote[] = [];

  /** Runs a part of the transaction, which is undone where it throws. */
  async attempt<T>(
    transaction: Transaction,
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> {
    const { onCommit, onUndo, recorded, notes } = this;
    const before = [onCommit, recorded, notes].map((list) => [list, list.length] as const);
    const [undone, changed, said] = [onUndo.length, recorded.length, notes.length];
    try {
      const made = await transaction.attempt(() => work(transaction));
      // What a part says of itself is about what it has changed.
      this.say(notes.splice(said), changed);
      return made;
    } catch (error) {
      for (const undoing of onUndo.slice(undone)) undoing.isUndone = true;
      // Steps that were to follow the commit of undone work are dropped.
      for (const [list, length] of before) list.length = Math.min(list.length, length);
      throw error;
    }
  }

  /** Adds notes to the details of changes in their tenants, from the first so many on. */
  say(notes: readonly SaidNote[], from = 0): void {
    if (notes.length === 0) return;
    for (const [at, change] of this.recorded.entries()) {
      if (at < from) continue;
      const fields = notes
        .filter(({ tenant }) => tenant === change.tenant)
        .map((one) => one.fields);
      this.recorded[at] = { ...change, details: Object.assign({}, change.details, ...fields) };
    }
  }

  /** What runs after the commit: what undoes its undone parts, the latest first, then the rest. */
  get whenCommitted(): readonly Following[] {
    return [...this.onUndo.filter((one) => one.isUndone).reverse(), ...this.onCommit];
  }

  /** What runs where all of it is undone, the latest first. */
  get whenUndone(): readonly Following[] {
    return this.onUndo.toReversed();
  }
}

/** For invocations outside a transaction: never written to, and shared by all. */
export const atNoEnd = new TransactionEnd();
for (const list of [atNoEnd.onCommit, atNoEnd.onUndo, atNoEnd.recorded, atNoEnd.notes])
  Object.freeze(list);
