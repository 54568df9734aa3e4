// The one writer of a SQLite database: transactions that arrive together share one commit, and so one sync
// (architecture.md "Documents on SQL": a durable insert costs seven times a relaxed one).
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../contract/errors.js";
import type { Lifetime } from "../../operations/lifetime.js";
import type { PreparedConnection } from "./session.js";

interface Job {
  readonly lifetime: Lifetime;
  readonly work: (isOpen: () => boolean) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** How many transactions share a commit at most. */
const maxGroup = 128;

export class Writer {
  readonly #connection: PreparedConnection;
  readonly #queue: Job[] = [];
  #draining: Promise<void> | undefined;

  constructor(connection: PreparedConnection) {
    this.#connection = connection;
  }

  /** Runs `work` in a transaction and resolves after the commit that it is part of has reached the disk. */
  run<T>(lifetime: Lifetime, work: (isOpen: () => boolean) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ lifetime, work, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when nothing is queued or running. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#commitGroup();
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
      await new Promise((resolve) => setImmediate(resolve));
      await this.#fill(jobs, settled);
      this.#connection.exec("COMMIT");
    } catch (error) {
      this.#rollBack();
      if (jobs.length === 0) jobs.push(...this.#queue.splice(0));
      for (const job of jobs) job.reject(error);
      return;
    }
    for (const settle of settled) settle();
  }

  /** Takes the write lock; another process that holds it is waited for, up to 5 s, without blocking this one. */
  async #begin(): Promise<void> {
    const patience = Date.now() + 5_000;
    for (;;) {
      try {
        this.#connection.exec("BEGIN IMMEDIATE");
        return;
      } catch (error) {
        const isBusy = error instanceof ServiceError && error.code === "core.unavailable";
        if (!isBusy || Date.now() > patience) throw error;
        await sleep(5 + Math.random() * 20);
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

  /** Runs one transaction inside the group. Once its savepoint is released it is decided, whatever its deadline does. */
  async #runJob(job: Job): Promise<() => void> {
    let open = true;
    this.#connection.exec("SAVEPOINT operation");
    try {
      job.lifetime.throwIfOver();
      const value = await job.lifetime.race(job.work(() => open));
      job.lifetime.throwIfOver();
      open = false;
      job.lifetime.decide();
      this.#connection.exec("RELEASE operation");
      return () => job.resolve(value as never);
    } catch (error) {
      open = false;
      this.#connection.exec("ROLLBACK TO operation");
      this.#connection.exec("RELEASE operation");
      return () => job.reject(error);
    }
  }

  #rollBack(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // No transaction was open: BEGIN itself had failed.
    }
  }
}
