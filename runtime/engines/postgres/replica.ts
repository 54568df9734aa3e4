// A replica, from which lists are read. It answers with all that was acknowledged before they were
// asked for, or not at all: then the database itself does (decisions.md "Replicas").
import { unavailable } from "../../contract/errors.js";
import { monotonicMillis, sleep } from "../../ports/ambient.js";
import type { ReplicaState } from "../../ports/database.js";
import { isOver, Lifetime } from "../../ports/lifetime.js";
import type { Log } from "../../ports/log.js";
import { ofService, type Work } from "../../ports/work.js";
import { within } from "../../work/within.js";
import type { SqlRow } from "../sql/session.js";
import type { HeldConnection, PostgresConnections } from "./connections.js";
import type { Answered, Statement } from "./statements.js";
import { readStanding, replicaStanding, whyBehind, writerStanding } from "./standing.js";

/** Milliseconds that a list waits for a connection and for what it has to see, at most. */
const patienceMillis = 100;
/** The share of the time that a list has left which it waits at most: the rest is for others. */
const patienceShare = 0.25;
/** Milliseconds in which the database says how far it is. */
const writerMillis = 1_000;
/** Milliseconds between two looks at how far the replica is. */
const lookMillis = 4;
/** Milliseconds for which a replica that has failed is left alone: at first, and at most. */
const rest = { first: 100, longest: 5_000 } as const;
/** It is told from that rest on: a moment in which a replica is late is nothing to tell. */
const toldFromMillis = 800;
/** A fault of single lists is told once in so many milliseconds. */
const toldEveryMillis = 60_000;
/** A replica that has answered others within so many milliseconds has failed nobody. */
const aliveMillis = 1_000;
/** After so many milliseconds without an answer, the replica is asked whether it is there. */
const silentMillis = 1_000;

/** A statement that the replica refuses or breaks off, which says nothing of the replica. */
class StatementFault extends Error {}

/** No connection could be had in time: all are taken, or the replica lets nobody in. */
class NoPlace extends Error {}

/** The replica of a database. */
export class Replica {
  readonly #primary: PostgresConnections;
  readonly #connections: PostgresConnections;
  readonly #log: Log;
  readonly #counts = { answered: 0, missed: 0 };
  #answeredAt = -Infinity;
  #restsUntil = 0;
  #restMillis: number = rest.first;
  #toldAt = -Infinity;
  #asking = Promise.resolve();
  #next: Promise<SqlRow> | undefined;

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
    let wanted: Promise<SqlRow> | undefined;
    return async (statement) => {
      if (monotonicMillis() < this.#restsUntil) return this.#miss();
      try {
        wanted ??= this.#askWriter();
        const answer = await this.#ask(statement, work, await wanted);
        this.#succeed();
        return answer;
      } catch (error) {
        work.lifetime.throwIfOver();
        this.#judge(error);
        return this.#miss();
      }
    };
  }

  async #ask(statement: Statement, { lifetime, payer }: Work, wanted: SqlRow): Promise<Answered> {
    const millis = Math.min(patienceMillis, lifetime.remainingMillis * patienceShare);
    const patience = Lifetime.within(millis);
    const connection = await this.#connections
      .acquire({ lifetime: patience, payer })
      .catch((cause: unknown) => {
        throw isOver(cause) ? new NoPlace("no connection to the replica", { cause }) : cause;
      });
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
    const answer = connection.queryAlone(statement, lifetime).catch((cause: unknown) => {
      throw new StatementFault("the replica has not answered a list", { cause });
    });
    while (!(await settlesIn(silentMillis, answer)))
      if (!(await this.#isThere())) {
        answer.catch(ignore);
        connection.release(true);
        throw unavailable(new Error("the replica has fallen silent"));
      }
    return answer;
  }

  /** Whether it answers, be it with a refusal. */
  async #isThere(): Promise<boolean> {
    try {
      await look(this.#connections, replicaStanding, silentMillis);
      return true;
    } catch (error) {
      return !isOver(error);
    }
  }

  /** How far the database is. Those who ask meanwhile share the next question, not this one. */
  #askWriter(): Promise<SqlRow> {
    const begin = (): Promise<SqlRow> => {
      this.#next = undefined;
      const asked = look(this.#primary, writerStanding, writerMillis);
      this.#asking = asked.then(ignore, ignore);
      return asked;
    };
    return (this.#next ??= this.#asking.then(begin));
  }

  #miss(): null {
    this.#counts.missed += 1;
    return null;
  }

  #succeed(): void {
    this.#counts.answered += 1;
    this.#answeredAt = monotonicMillis();
    const wasTold = this.#restMillis > toldFromMillis;
    this.#restMillis = rest.first;
    if (wasTold) this.#log.info({}, "lists are read from the replica again");
  }

  /** Whether a fault is one list's alone, or the replica is better left alone for a while. */
  #judge(error: unknown): void {
    const now = monotonicMillis();
    if (error instanceof StatementFault) {
      if (now - this.#toldAt < toldEveryMillis) return;
      this.#toldAt = now;
      this.#log.warn({ err: error.cause }, "a list was read from the database: the replica failed");
      return;
    }
    // Whoever waits in vain for a place, beside others of the same caller, has met no fault.
    if (error instanceof NoPlace && now - this.#answeredAt < aliveMillis) return;
    // Others that were under way have failed with it.
    if (now < this.#restsUntil) return;
    const wasTold = this.#restMillis > toldFromMillis;
    this.#restsUntil = now + this.#restMillis;
    this.#restMillis = Math.min(this.#restMillis * 2, rest.longest);
    if (wasTold || this.#restMillis <= toldFromMillis) return;
    const text = "the replica can't answer: lists are read from the database itself";
    this.#log.warn({ err: error }, text);
  }
}

/** Resolves once a server has all that is wanted; rejects if that takes too long. */
async function reach(
  connection: HeldConnection,
  wanted: SqlRow,
  patience: Lifetime,
): Promise<void> {
  for (;;) {
    const standing = await readStanding(connection, replicaStanding, patience);
    const { isOther, bytes, why } = whyBehind(standing, wanted);
    if (!isOther && bytes <= 0) return;
    if (isOther || patience.remainingMillis < lookMillis) throw unavailable(new Error(why));
    await sleep(lookMillis);
  }
}

async function look(
  connections: PostgresConnections,
  question: Statement,
  millis: number,
): Promise<SqlRow> {
  const work = ofService(millis);
  const connection = await connections.acquire(work);
  try {
    return await readStanding(connection, question, work.lifetime);
  } finally {
    connection.release();
  }
}

/** Whether something settles within so many milliseconds. */
function settlesIn(millis: number, work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(isTrue, isTrue);
  return within(millis, settled, () => new Error("not yet")).catch(() => false);
}

const isTrue = (): boolean => true;

function ignore(): void {
  // Whoever has asked is told.
}
