// The one writer of a SQLite database: transactions that arrive together share one commit, and so
// one sync (architecture.md "Documents on SQL": a durable insert costs seven times a relaxed one).
import { ServiceError } from "../../contract/errors.js";
import type { Log } from "../../ports/log.js";
import type { Work } from "../../ports/work.js";
import { isBusy } from "./faults.js";
import type { PreparedConnection, WritingConnection } from "./session.js";
import { drawFraction, monotonicMillis, nextTurn, sleep, startTimer } from "../../ports/ambient.js";

/** The work that a transaction belongs to; `operation` names it in the log. */
export interface Writing extends Work {
  readonly operation: string;
}

/**
 * The body of a transaction on this connection. `isOpen` tells whether the transaction has not
 * ended yet.
 */
type Transacted<T> = (connection: WritingConnection, isOpen: () => boolean) => Promise<T>;

interface Job {
  readonly writing: Writing;
  readonly work: Transacted<unknown>;
  /** Called where it begins: until then it waits for the writer. */
  readonly begun: () => void;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** How many transactions share a commit at most. */
const maxGroup = 128;
/**
 * Milliseconds after which the log names a transaction that still holds the writer, since all other
 * writes wait for it.
 */
const heldMillis = 5_000;

export class SqliteWriter {
  readonly #connection: WritingConnection;
  readonly #log: Log;
  readonly #queue: Job[] = [];
  readonly #between: (() => void)[] = [];
  #draining: Promise<void> | undefined;
  #fault: unknown;

  constructor(connection: WritingConnection, log: Log) {
    this.#connection = connection;
    this.#log = log;
  }

  /**
   * Runs `work` in a transaction and resolves once its commit is on disk. If this rejects, nothing
   * of it was committed.
   */
  run<T>(writing: Writing, work: Transacted<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const begun = writing.lifetime.onOver(ignoreAbort, "the database");
      this.#queue.push({ writing, work, begun, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Runs `work`, which doesn't wait for anything, between two transactions. */
  async between(work: () => void): Promise<void> {
    if (this.#draining === undefined) return work();
    await new Promise<void>((resolve, reject) => {
      this.#between.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  get isBusy(): boolean {
    return this.#draining !== undefined;
  }

  /** Why the last group could not be committed; undefined if it was. */
  get fault(): unknown {
    return this.#fault;
  }

  /** Resolves when nothing is queued or running. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async #drain(): Promise<void> {
    try {
      for (;;) {
        for (const work of this.#between.splice(0)) work();
        if (this.#queue.length === 0) break;
        await this.#commitGroup();
      }
    } finally {
      this.#draining = undefined;
    }
  }

  async #commitGroup(): Promise<void> {
    const settled: (() => void)[] = [];
    const jobs: Job[] = [];
    try {
      await this.#begin();
      await this.#fill(jobs, settled);
      // Requests that are already in the socket buffers join this group.
      await nextTurn();
      await this.#fill(jobs, settled);
      this.#connection.prepared.exec("COMMIT");
      this.#fault = undefined;
    } catch (error) {
      this.#fault = error;
      this.#rollBack();
      if (jobs.length === 0) jobs.push(...this.#queue.splice(0));
      for (const job of jobs) job.reject(error);
      return;
    }
    for (const settle of settled) settle();
  }

  /**
   * Takes the write lock. Waits up to 5 s for another process that holds it, without blocking the
   * event loop.
   */
  async #begin(): Promise<void> {
    const patience = monotonicMillis() + 5_000;
    for (;;) {
      try {
        this.#connection.prepared.exec("BEGIN IMMEDIATE");
        return;
      } catch (error) {
        if (!isBusy(error) || monotonicMillis() > patience) throw error;
        await sleep(5 + drawFraction() * 20);
      }
    }
  }

  async #fill(jobs: Job[], settled: (() => void)[]): Promise<void> {
    while (jobs.length < maxGroup) {
      const job = this.#queue.shift();
      if (job === undefined) return;
      jobs.push(job);
      settled.push(await this.#runJob(job));
    }
  }

  /**
   * Runs one transaction of the group in a savepoint; returns what settles its promise once the
   * group has committed. After the savepoint is released, the deadline no longer undoes the
   * transaction.
   */
  async #runJob(job: Job): Promise<() => void> {
    let open = true;
    const connection = this.#connection;
    const { prepared, scanning } = connection;
    const { lifetime, operation } = job.writing;
    job.begun();
    prepared.exec("SAVEPOINT operation");
    const held = startTimer(() => {
      this.#log.warn({ operation }, `a transaction holds the writer for ${heldMillis / 1000} s`);
    }, heldMillis);
    try {
      lifetime.throwIfOver();
      const value = await lifetime.limit(job.work(connection, () => open));
      lifetime.throwIfOver();
      open = false;
      await scanning.end();
      lifetime.decide();
      prepared.exec("RELEASE operation");
      return () => job.resolve(value as never);
    } catch (error) {
      open = false;
      await scanning.end();
      undo(prepared, error);
      return () => job.reject(error);
    } finally {
      clearTimeout(held);
    }
  }

  #rollBack(): void {
    try {
      this.#connection.prepared.exec("ROLLBACK");
    } catch {
      // No transaction was open: BEGIN itself had failed.
    }
  }
}

function ignoreAbort(): void {
  // It is still run: then it finds that its time is over.
}

/**
 * Undoes one transaction of the group. If a fault, say of the disk, made SQLite undo the whole
 * group, throws that fault.
 */
function undo(prepared: PreparedConnection, error: unknown): void {
  try {
    prepared.exec("ROLLBACK TO operation");
    prepared.exec("RELEASE operation");
  } catch (lost) {
    throw error instanceof ServiceError && error.status >= 500 ? error : lost;
  }
}
