// The transaction port: what a SQL engine owes the pipeline (architecture.md "Engines").
import type { IdempotencyStore } from "./idempotency.js";
import type { LeaseStore } from "./leases.js";
import type { Lifetime } from "./lifetime.js";
import type { BulkheadState, Payer, Work } from "./work.js";
import type { StoreKey } from "./store-key.js";
import type { RateStore } from "./rates.js";

/** What one transaction reaches. After the transaction has ended, every call on it rejects. */
export interface Transaction {
  /** What a family keeps. */
  of<Store>(key: StoreKey<Store>): Store;
  readonly idempotency: IdempotencyStore;
  readonly leases: LeaseStore;
  readonly rates: RateStore;
  /** Runs `work`; where it throws, its writes are undone and the transaction goes on. Rethrows. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

export interface WriteOptions {
  readonly lifetime: Lifetime;
  /** Who pays; the service itself where it is left out. */
  readonly payer?: Payer | null;
  /** What the log calls it, where it holds up others. */
  readonly operation?: string;
  /** A name that one write may hold at a time, until it has ended; another one is refused with `idempotency_in_flight`. */
  readonly exclusive?: string | undefined;
}

/** What an engine is busy with. */
export interface EngineState {
  readonly reading: BulkheadState;
  readonly writing: BulkheadState;
}

/** One SQL database. All methods may reject with `core.infrastructure` or `core.unavailable`. */
export interface Database {
  /**
   * Committed state as one piece of work sees it, outside any transaction: what takes long waits for its turn, and ends
   * with the work. A write through it rejects with `core.configuration`.
   */
  read(work: Work): Transaction;
  /** The same for the service's own work. */
  readonly reader: Transaction;
  /**
   * Runs `work` in one transaction and resolves after a durable commit.
   * Nothing commits where `work` throws or the lifetime is over; `work` is never run twice.
   */
  write<T>(options: WriteOptions, work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Resolves where the engine takes writes now; rejects where it does not. */
  probe(): Promise<void>;
  /** What is under way and what waits, for those who watch. */
  state(): EngineState;
  /** Waits for running transactions and lets go of all connections. */
  close(): Promise<void>;
}
