// Connections to PostgreSQL in two bulkheads: one for callers, and one for the service itself,
// which callers can't use up (architecture.md "Work is bounded": share). When work is over, its
// statement is cancelled on the server; if the server stays silent even then, the connection is
// destroyed.
import { Bulkhead, type Leave } from "../../work/bulkhead.js";
import { runNextTurn } from "../../ports/ambient.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Work } from "../../ports/work.js";
import type { SqlRow } from "../sql/session.js";
import type { Answered, Statement } from "./statements.js";
import { CallersDoor } from "./callers-door.js";
import { serverAddresses } from "./addresses.js";
import { answeredIn, settleMillis } from "./answered-in.js";
import { processIdOf } from "./driver.js";
import { cancelMillis, endsByProcessId, endsByRequest, type Ends } from "./backend-ends.js";
import {
  lonelyCommit,
  losesSession,
  refusesWrites,
  translateFault,
  translateRefusal,
} from "./faults.js";
import { begunQueries, type BegunAnswer, type QueryDriver } from "./begun-query.js";
import type { ConnectionDriver } from "./cancel-request.js";
import { poolsOf, type ConnectionPool, type Driver, type Known, type TypeParser } from "./pools.js";
import { ownSessions, sharedSessions, type SessionManner } from "./sessions.js";

/** How much work may wait for a connection, in all and per payer. */
const waiting = { what: "the database", maxWaiting: 4_096, maxWaitingPerPayer: 1_024 } as const;

export interface ConnectionOptions {
  readonly url: string;
  /** The setting that has the URL, for messages. */
  readonly setting?: string | undefined;
  /**
   * Milliseconds after which the server itself ends a statement or an idle transaction that nobody
   * else has ended.
   */
  readonly statementMillis: number;
  readonly typeParser: TypeParser;
  /** Connections in all, for callers and the service. */
  readonly size: number;
  /** Whether a pooler lends sessions for a transaction each. */
  readonly isShared: boolean;
}

/** A connection that was taken from its pool. */
export interface HeldConnection {
  /**
   * Runs one statement. When the lifetime ends, it is cancelled on the server and this rejects with
   * the reason. If the lifetime is over already, nothing is sent and this throws it.
   */
  query(statement: Statement, lifetime: Lifetime): Promise<Answered>;
  /**
   * Begins a transaction with this statement in one message: if that fails, the statement does not
   * run, and both promises reject alike. Only where `manner.isBegunTogether`.
   */
  queryBegun(statement: Statement, lifetime: Lifetime): BegunAnswer;
  /** Runs one statement that is in no transaction, as `query` does, but always rejects. */
  queryAlone(statement: Statement, lifetime: Lifetime): Promise<Answered>;
  /** What is sent until the end of this turn of the event loop goes in one message of TCP. */
  gatherWrites(): void;
  readonly manner: SessionManner;
  /** The process id that the server, or a pooler, has given for the connection. */
  readonly processId: number | null;
  /** Whether a statement is under way. */
  readonly isBusy: boolean;
  /** Resolves once no statement is under way, at the latest when the connection is destroyed. */
  idle(): Promise<void>;
  /**
   * Returns the connection to its pool. A broken or busy one is destroyed; a broken one's backend
   * is terminated, too.
   */
  release(isBroken?: boolean): void;
}

export interface PostgresConnections {
  /**
   * Takes a connection, once it is the payer's turn. Rejects with `core.unavailable`, or the reason
   * why the work is over.
   */
  acquire(work: Work): Promise<HeldConnection>;
  /**
   * Resolves if callers get connections now, not only the service itself; rejects as `acquire`
   * does.
   */
  admit(work: Work): Promise<void>;
  readonly callers: Bulkhead;
  readonly service: Bulkhead;
  close(): Promise<void>;
}

/**
 * Creates the pools, which connect on first use. About 30 % of the connections, at least two, are
 * the service's own.
 */
export function openConnections(
  pg: Driver & ConnectionDriver & QueryDriver,
  options: ConnectionOptions,
): PostgresConnections {
  const own = Math.max(2, Math.ceil(options.size * 0.3));
  const theirs = Math.max(1, options.size - own);
  const callers = new Bulkhead({ ...waiting, size: theirs, shareOf: () => theirs / 2 });
  const service = new Bulkhead({
    ...waiting,
    size: own,
    shareOf: () => own,
    maxWaitingPerPayer: waiting.maxWaiting,
  });
  const addresses = serverAddresses(options.url);
  const sessions = (options.isShared ? sharedSessions : ownSessions)({
    options: addresses.options,
    statementMillis: options.statementMillis,
  });
  const poolOf = poolsOf(pg, addresses, sessions, options.typeParser);
  const callersPool = poolOf(theirs);
  const servicePool = poolOf(own);
  const ends = options.isShared
    ? endsByRequest(pg)
    : // Cancelling has a connection of its own, so that it never waits for a busy one.
      endsByProcessId(poolOf(1));

  const beginWith = begunQueries(pg);
  const taken = async (
    bulkhead: Bulkhead,
    pool: ConnectionPool,
    work: Work,
    left?: () => void,
  ): Promise<HeldConnection> => {
    const leave = await bulkhead.enter(work);
    try {
      const connection = await pool.connect(work.lifetime);
      return holdConnection(connection, () => (leave(), left?.()), ends, beginWith);
    } catch (error) {
      leave();
      const { setting = "DATABASE_URL" } = options;
      throw translateRefusal(error, setting, addresses.plain);
    }
  };
  const door = new CallersDoor((work, left) => taken(callers, callersPool, work, left));

  return {
    callers,
    service,

    acquire: (work) => (work.payer === null ? taken(service, servicePool, work) : door.enter(work)),

    admit: (work) => door.probe(work),

    async close() {
      await Promise.all([callersPool, servicePool, ends].map((pool) => pool.end()));
    },
  };
}

function holdConnection(
  connection: Known,
  leave: Leave,
  ends: Ends,
  beginWith: ReturnType<typeof begunQueries>,
): HeldConnection {
  const { client, socket, manner, heard } = connection;
  /** Statements that were sent and are not answered yet, in order. */
  const running = new Set<Promise<unknown>>();
  let isReleased = false;
  /**
   * Whether a late cancel could hit the next statement, so that the connection must not be used
   * again.
   */
  let isTainted = false;
  /** The cancel that is under way: one per connection, however many statements are queued on it. */
  let cancelling: Promise<void> | undefined;
  const cancelOnce = (): Promise<void> =>
    (cancelling ??= answeredIn(cancelMillis, ends.cancel(connection))
      // A cancel without an answer may still arrive.
      .catch(() => (isTainted = true))
      .then(() => (cancelling = undefined)));

  /**
   * Has the server end the statement. If that takes too long, destroys the connection, which ends
   * the wait.
   */
  const end = async (statement: Promise<unknown>): Promise<void> => {
    let hasEnded = false;
    const cancelled = cancelOnce();
    const note = (): void => {
      hasEnded = true;
      // If the cancel is still under way, it could end the next statement.
      isTainted ||= cancelling !== undefined;
    };
    const ended = statement.then(() => {
      isTainted = true;
      note();
    }, note);
    await Promise.race([cancelled, ended]);
    await answeredIn(cancelMillis, ended).catch(() => undefined);
    if (!hasEnded) socket.destroy();
  };

  const answered = async (answer: Promise<Answered>, lifetime: Lifetime): Promise<Answered> => {
    running.add(answer);
    let reason: unknown;
    const off = lifetime.onOver((why) => {
      reason = why;
      void end(answer);
    }, "the database");
    try {
      const value = await answer;
      if (heard.isLonely) throw lonelyCommit();
      return value;
    } catch (error) {
      isTainted ||= heard.isLonely || spoilsConnection(error);
      throw reason ?? translateFault(error);
    } finally {
      off();
      running.delete(answer);
    }
  };

  const query: HeldConnection["query"] = (statement, lifetime) => {
    lifetime.throwIfOver();
    return answered(client.query<SqlRow>(namedWhere(manner, statement)), lifetime);
  };

  return {
    get isBusy() {
      return running.size > 0;
    },

    queryBegun(statement, lifetime) {
      lifetime.throwIfOver();
      const { begun, answer } = beginWith(client, statement);
      return failAlike(begun, answered(answer, lifetime));
    },

    gatherWrites: () => gatherWrites(socket),
    manner,
    processId: processIdOf(client),
    query,
    queryAlone: (manner.isShared ? inTransaction : byItself)(query, manner.begin),
    idle: async () => void (await Promise.allSettled(running)),

    release(isBroken = false) {
      if (isReleased) return;
      isReleased = true;
      const isLost = isBroken || isTainted || running.size > 0;
      if (isLost) socket.destroy();
      client.release(isLost);
      if (isBroken) ends.terminate(connection);
      leave();
    },
  };
}

function gatherWrites(socket: Known["socket"]): void {
  socket.cork();
  runNextTurn(() => socket.uncork());
}

/** Where it has not begun, the statement's own error says why. */
function failAlike(begun: Promise<void>, answer: Promise<Answered>): BegunAnswer {
  return { answer, begun: begun.catch(async () => void (await answer)) };
}

/**
 * Whether a connection must not be used again: its server has become a standby, so the next one
 * looks for the server that it gave way to, by another host or where the name leads now; or a
 * pooler has changed the session.
 */
function spoilsConnection(error: unknown): boolean {
  return refusesWrites(error) || losesSession(error);
}

/** A statement as `pg` takes it: with its name where names are carried. */
function namedWhere(
  { carriesNames }: SessionManner,
  { name, ...unnamed }: Statement,
): { text: string; values: unknown[] } {
  const statement = carriesNames && name !== undefined ? { name, ...unnamed } : unnamed;
  return statement as { text: string; values: unknown[] };
}

/** Runs one statement by itself. */
function byItself(query: HeldConnection["query"]): HeldConnection["query"] {
  return async (statement, lifetime) => query(statement, lifetime);
}

/** Runs one statement in a transaction of its own: what begins and ends it is sent with it. */
function inTransaction(query: HeldConnection["query"], begin: string): HeldConnection["query"] {
  return async (statement, lifetime) => {
    const begun = query({ text: begin }, lifetime);
    const answer = query(statement, lifetime);
    const ended = query({ text: "COMMIT" }, Lifetime.unlimited());
    try {
      // What begins is answered first.
      const [, value] = await Promise.all([begun, answer]);
      return value;
    } finally {
      // The answer is right whatever becomes of the transaction. A connection on which it doesn't
      // end is busy when it is released, and so destroyed.
      await answeredIn(settleMillis, ended).catch(() => undefined);
    }
  };
}
