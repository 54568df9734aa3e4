// The transaction port: what the pipeline relies on in a SQL engine (architecture.md "Engines").
import type { Archive } from "./archive.js";
import type { IdempotencyStore } from "./idempotency.js";
import type { LeaseStore } from "./leases.js";
import type { Lifetime } from "./lifetime.js";
import type { BulkheadState, Payer, Work } from "./work.js";
import type { StoreKey } from "./store-key.js";
import type { RateStore } from "./rates.js";

/** One transaction and its stores. Once it has ended, every call on it rejects. */
export interface Transaction {
  /** The store of a family. */
  of<Store>(key: StoreKey<Store>): Store;
  readonly idempotency: IdempotencyStore;
  readonly leases: LeaseStore;
  readonly rates: RateStore;
  /**
   * Runs `work`. If it throws, its own writes are undone, the error is rethrown and the transaction
   * can go on.
   */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

export interface WriteOptions {
  readonly lifetime: Lifetime;
  /** Whose budgets the write uses up; the service's own if left out. */
  readonly payer?: Payer | null;
  /** The name of the operation, for the log if it holds up others. */
  readonly operation?: string;
  /**
   * A name that only one write may hold at a time, until it ends; another is refused with
   * `idempotency_in_flight`. The work begins with a read: it is answered once the name is held.
   */
  readonly exclusive?: string | undefined;
  /** A name that only one write may hold at a time, until it ends; others wait for it. */
  readonly turn?: string | undefined;
  /** What it is a part of in a trace; nothing if left out. */
  readonly trace?: Work["trace"];
}

/**
 * How busy an engine is. SQLite counts reads and writes; PostgreSQL counts callers' connections and
 * the service's own.
 */
export interface EngineState {
  readonly reading: BulkheadState;
  readonly writing: BulkheadState;
  readonly replica: ReplicaState;
}

/** Reads that a replica was to answer, since the start; none if there is none. */
export interface ReplicaState {
  readonly answered: number;
  /** Those that the database itself has answered instead. */
  readonly missed: number;
}

/** One SQL database. All methods may reject with `core.infrastructure` or `core.unavailable`. */
export interface Database {
  /**
   * Reads committed state for one piece of work, outside any transaction. Reads that take long wait
   * for their turn, and end with the work. Writes through it reject with `core.configuration`.
   */
  read(work: Work): Transaction;
  /** The same for the service's own work, with the time limit of `ofService`. */
  readonly reader: Transaction;
  /**
   * Runs `work` in one transaction and resolves after a durable commit.
   * Nothing commits if `work` throws or the lifetime ends; `work` is never run twice.
   */
  write<T>(options: WriteOptions, work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * Resolves if callers' work gets to the engine now, apart from the service's own; rejects with
   * why it doesn't.
   */
  admit(): Promise<void>;
  /**
   * Resolves if callers' work gets to the engine now, and the engine accepts writes; rejects if it
   * doesn't.
   */
  probe(): Promise<void>;
  /** How it is kept while it is written to; null for an engine with tools of its own for that. */
  readonly archive: Archive | null;
  /** What is under way and what waits, for metrics. */
  state(): EngineState;
  /** Waits for running transactions, then closes all connections. */
  close(): Promise<void>;
}

/** Errors of writes of which it is known that nothing was written. */
const undone = new WeakSet<object>();

/** Notes that nothing has been written, though the work may have been done: an engine's error. */
export function noteUndone(error: unknown): void {
  if (typeof error === "object" && error !== null) undone.add(error);
}

/** Whether that has been noted. Other errors behind the work leave open whether it is committed. */
export function isUndone(error: unknown): boolean {
  return typeof error === "object" && error !== null && undone.has(error);
}

/** The state of no replica. */
export const noReplica: ReplicaState = { answered: 0, missed: 0 };

/** Why there is no connection to a database: the cause of a `core.unavailable`. */
export class DatabaseRefusal extends Error {
  /** Whether it may pass by itself, as when the database starts later than the service. */
  readonly mayPass: boolean;

  /** `message` is one line that names the setting and the database, without its password. */
  constructor(message: string, mayPass: boolean, cause: unknown) {
    super(message, { cause });
    this.mayPass = mayPass;
  }
}
