// Connections to PostgreSQL in two bulkheads: one for callers, and one for the service itself,
// which callers can't use up (architecture.md "Work is bounded": share). When work is over, its
// statement is cancelled on the server; if the server stays silent even then, the connection is
// destroyed.
import { unavailable } from "../../contract/errors.js";
import { Bulkhead, type Leave } from "../../work/bulkhead.js";
import { Lifetime } from "../../ports/lifetime.js";
import { within } from "../../work/within.js";
import type { Work } from "../../ports/work.js";
import type { SqlRow } from "../sql/session.js";
import { CallersDoor } from "./callers-door.js";
import { serverAddresses } from "./addresses.js";
import { translateRefusal, refusesWrites, translateFault } from "./faults.js";
import {
  poolsOf,
  type ConnectionPool,
  type Driver,
  type Known,
  type PoolOptions,
} from "./pools.js";
import { monotonicMillis, sleep } from "../../ports/ambient.js";

/** Milliseconds to wait for a cancel, and then for the cancelled statement to end. */
const cancelMillis = 1_000;
/**
 * Milliseconds between tries to terminate the backend of an abandoned connection, and for how long
 * to try.
 */
const retryMillis = 1_000;
const patienceMillis = 60_000;
/** How much work may wait for a connection, in all and per payer. */
const waiting = { what: "the database", maxWaiting: 4_096, maxWaitingPerPayer: 1_024 } as const;

export interface ConnectionOptions extends PoolOptions {
  readonly url: string;
  /** Connections in all, for callers and the service. */
  readonly size: number;
}

export interface Answered {
  readonly rows: readonly SqlRow[];
  readonly rowCount: number | null;
  readonly command: string;
}

/** A statement for `pg`. Each connection prepares a named one only once. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** A connection that was taken from its pool. */
export interface HeldConnection {
  /**
   * Runs one statement. When the lifetime ends, it is cancelled on the server and this rejects with
   * the reason.
   */
  query(statement: Statement, lifetime: Lifetime): Promise<Answered>;
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
export function openConnections(pg: Driver, options: ConnectionOptions): PostgresConnections {
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
  const poolOf = poolsOf(pg, addresses, options);
  const callersPool = poolOf(theirs);
  const servicePool = poolOf(own);
  // Cancelling has a connection of its own, so that it never waits for a busy one.
  const cancelPool = poolOf(1);

  const closing = new AbortController();

  const tell = async (ending: Ending, { client, name }: Known): Promise<void> => {
    const pid = (client as { readonly processID?: number | null }).processID ?? null;
    if (pid === null) return;
    // Behind a pooler the pid may be another client's: only a backend that also has our name is
    // ended.
    const text = `SELECT ${ending}($1) FROM pg_stat_get_activity($1) WHERE application_name = $2`;
    const canceller = await cancelPool.connect(Lifetime.unlimited());
    try {
      await answeredIn(cancelMillis, canceller.client.query(text, [pid, name]));
      canceller.client.release();
    } catch (error) {
      // If the connection has gone silent, every further cancel would wait for it.
      canceller.socket.destroy();
      canceller.client.release(true);
      throw error;
    }
  };

  /**
   * Abandoned connections, and until when (`monotonicMillis`) to try terminating their backends.
   */
  const lost = new Map<Known, number>();
  let terminating: Promise<void> | undefined;
  /** One at a time, so that a cancel waits for one of them at most. */
  const terminateLost = async (): Promise<void> => {
    while (lost.size > 0 && !closing.signal.aborted) {
      for (const [connection, until] of lost) {
        try {
          await tell("pg_terminate_backend", connection);
          lost.delete(connection);
        } catch {
          if (monotonicMillis() > until) lost.delete(connection);
          await sleep(retryMillis, undefined, { ref: false });
        }
      }
    }
  };
  const ends: Ends = {
    cancel: (connection) => tell("pg_cancel_backend", connection),
    terminate(connection) {
      lost.set(connection, monotonicMillis() + patienceMillis);
      terminating ??= terminateLost().finally(() => (terminating = undefined));
    },
  };

  const taken = async (
    bulkhead: Bulkhead,
    pool: ConnectionPool,
    work: Work,
    left?: () => void,
  ): Promise<HeldConnection> => {
    const leave = await bulkhead.enter(work);
    try {
      const connection = await pool.connect(work.lifetime);
      return holdConnection(connection, () => (leave(), left?.()), ends, addresses.mustWrite);
    } catch (error) {
      leave();
      throw translateRefusal(error, addresses.plain);
    }
  };
  const door = new CallersDoor((work, left) => taken(callers, callersPool, work, left));

  return {
    callers,
    service,

    acquire: (work) => (work.payer === null ? taken(service, servicePool, work) : door.enter(work)),

    admit: (work) => door.probe(work),

    async close() {
      closing.abort();
      await Promise.all([callersPool, servicePool, cancelPool].map((pool) => pool.end()));
    },
  };
}

/** The server's function that ends a backend's statement, or the whole backend. */
type Ending = "pg_cancel_backend" | "pg_terminate_backend";

interface Ends {
  /**
   * Cancels the statement that the connection's backend runs. Rejects if the server does not
   * answer.
   */
  cancel(connection: Known): Promise<void>;
  /**
   * Terminates the backend of an abandoned connection as soon as the server can be reached. If the
   * network went silent, the server has not noticed yet and still holds the transaction's locks.
   */
  terminate(connection: Known): void;
}

function holdConnection(
  connection: Known,
  leave: Leave,
  ends: Ends,
  mustWrite: boolean,
): HeldConnection {
  const { client, socket } = connection;
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

  return {
    get isBusy() {
      return running.size > 0;
    },

    async query(statement, lifetime) {
      lifetime.throwIfOver();
      const answer = client.query<SqlRow>(statement as { text: string; values: unknown[] });
      running.add(answer);
      let reason: unknown;
      const off = lifetime.onOver((why) => {
        reason = why;
        void end(answer);
      }, "the database");
      try {
        return await answer;
      } catch (error) {
        // The server has become a standby, so the next connection looks for the one that it gave
        // way to.
        isTainted ||= mustWrite && refusesWrites(error);
        throw reason ?? translateFault(error);
      } finally {
        off();
        running.delete(answer);
      }
    },

    async idle() {
      await Promise.allSettled(running);
    },

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

/** Settles as `work` does; rejects with `core.unavailable` if that takes longer than `millis`. */
export function answeredIn<T>(millis: number, work: Promise<T>): Promise<T> {
  return within(millis, work, () => unavailable(new Error("the database does not answer")));
}
