// A replica, from which lists are read. It answers with all that was acknowledged before they were
// asked for, or not at all: then the database itself does (decisions.md "Replicas").
import { unavailable } from "../../contract/errors.js";
import { monotonicMillis, sleep } from "../../ports/ambient.js";
import type { ReplicaState } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Log } from "../../ports/log.js";
import { ofService, type Work } from "../../ports/work.js";
import { answeredIn } from "./answered-in.js";
import type { Answered, HeldConnection, PostgresConnections, Statement } from "./connections.js";

/** Milliseconds that a list waits for a connection and for what it has to see, at most. */
const patienceMillis = 100;
/** Milliseconds between two looks at how far the replica is. */
const lookMillis = 4;
/** Milliseconds for which a replica that has failed is left alone: at first, and at most. */
const rest = { first: 100, longest: 5_000 } as const;
/** It is told from that rest on: a moment in which a replica is late is nothing to tell. */
const toldFromMillis = 800;
/** After so many milliseconds without an answer, the replica is asked whether it is there. */
const silentMillis = 1_000;

/** How far a server is in the log of which database. */
interface Standing {
  /** Bytes of the write-ahead log; NaN of a server that is no replica. */
  readonly position: number;
  readonly system: string;
}

function standingOf(position: string): Statement {
  const text =
    `SELECT pg_wal_lsn_diff(${position}, '0/0')::text AS "position", ` +
    `system_identifier::text AS "system" FROM pg_control_system()`;
  return { text };
}

// What was acknowledged is on the disk.
const written = standingOf("pg_current_wal_flush_lsn()");
const replayed = standingOf("CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END");

/** The replica of a database. */
export class Replica {
  readonly #primary: PostgresConnections;
  readonly #connections: PostgresConnections;
  readonly #log: Log;
  readonly #counts = { answered: 0, missed: 0 };
  #restsUntil = 0;
  #restMillis: number = rest.first;
  #isMissing = false;
  #asking = Promise.resolve();
  #next: Promise<Standing> | undefined;

  constructor(primary: PostgresConnections, connections: PostgresConnections, log: Log) {
    this.#primary = primary;
    this.#connections = connections;
    this.#log = log;
  }

  get state(): ReplicaState {
    return this.#counts;
  }

  /**
   * Makes the function that asks the replica for one piece of work: for what has been acknowledged
   * by now, and later if the work asks later. It resolves to null if the replica can't answer in
   * time, and rejects only once the work is over.
   */
  asker(work: Work): (statement: Statement) => Promise<Answered | null> {
    let wanted: Promise<Standing> | undefined;
    return async (statement) => {
      if (monotonicMillis() < this.#restsUntil) return this.#miss();
      try {
        wanted ??= this.#written();
        await wanted;
      } catch {
        // It is the database that doesn't answer, and says so better itself.
        work.lifetime.throwIfOver();
        return this.#miss();
      }
      try {
        const answer = await this.#ask(statement, work, await wanted);
        this.#succeed();
        return answer;
      } catch (error) {
        work.lifetime.throwIfOver();
        this.#fail(error);
        return this.#miss();
      }
    };
  }

  async #ask(statement: Statement, { lifetime, payer }: Work, wanted: Standing): Promise<Answered> {
    const patience = Lifetime.within(patienceMillis);
    const connection = await this.#connections.acquire({ lifetime: patience, payer });
    try {
      await reach(connection, wanted, patience);
      return await this.#hear(connection, statement, lifetime);
    } finally {
      connection.release();
    }
  }

  /** The answer, however long it takes, as long as the server is there. */
  async #hear(
    connection: HeldConnection,
    statement: Statement,
    lifetime: Lifetime,
  ): Promise<Answered> {
    const answer = connection.queryAlone(statement, lifetime);
    const settled = answer.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([settled, sleep(silentMillis, false, { ref: false })])))
      if (!(await this.#isThere())) {
        connection.release(true);
        throw unavailable(new Error("the replica has fallen silent"));
      }
    return answer;
  }

  async #isThere(): Promise<boolean> {
    try {
      await this.#look(this.#connections, replayed, ofService(silentMillis));
      return true;
    } catch {
      return false;
    }
  }

  /** How far the database is. Those who ask meanwhile share the next question, not this one. */
  #written(): Promise<Standing> {
    const begin = (): Promise<Standing> => {
      this.#next = undefined;
      const asked = this.#look(this.#primary, written, ofService(patienceMillis));
      this.#asking = asked.then(ignore, ignore);
      return asked;
    };
    return (this.#next ??= this.#asking.then(begin));
  }

  async #look(
    connections: PostgresConnections,
    question: Statement,
    work: Work,
  ): Promise<Standing> {
    const connection = await connections.acquire(work);
    try {
      return await standingOn(connection, question, work.lifetime);
    } finally {
      connection.release();
    }
  }

  #miss(): null {
    this.#counts.missed += 1;
    return null;
  }

  #succeed(): void {
    this.#counts.answered += 1;
    this.#restMillis = rest.first;
    if (!this.#isMissing) return;
    this.#isMissing = false;
    this.#log.info({}, "lists are read from the replica again");
  }

  #fail(err: unknown): void {
    const now = monotonicMillis();
    // Others that were under way have failed with it.
    if (now < this.#restsUntil) return;
    this.#restsUntil = now + this.#restMillis;
    this.#restMillis = Math.min(this.#restMillis * 2, rest.longest);
    if (this.#isMissing || this.#restMillis <= toldFromMillis) return;
    this.#isMissing = true;
    this.#log.warn({ err }, "the replica can't answer: lists are read from the database itself");
  }
}

function ignore(): void {
  // Whoever has asked is told.
}

/** Resolves once a server has all that is wanted; rejects if that takes too long. */
async function reach(
  connection: HeldConnection,
  wanted: Standing,
  patience: Lifetime,
): Promise<void> {
  for (;;) {
    const { position, system } = await standingOn(connection, replayed, patience);
    if (system !== wanted.system || Number.isNaN(position))
      throw unavailable(new Error("DATABASE_REPLICA_URL leads to no replica of the database"));
    if (position >= wanted.position) return;
    if (patience.remainingMillis < lookMillis)
      throw unavailable(new Error(`the replica is ${wanted.position - position} bytes behind`));
    await sleep(lookMillis);
  }
}

async function standingOn(
  connection: HeldConnection,
  question: Statement,
  lifetime: Lifetime,
): Promise<Standing> {
  const asked = connection.queryAlone(question, lifetime);
  const { rows } = await answeredIn(Math.max(1, lifetime.remainingMillis), asked);
  const { position, system } = rows[0] ?? {};
  return { position: Number(position ?? Number.NaN), system: String(system) };
}
