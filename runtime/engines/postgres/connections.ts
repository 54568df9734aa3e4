// Connections to PostgreSQL in two bulkheads: callers', and the service's own, which callers cannot take
// (architecture.md "Work is bounded": share). A statement whose work is over is cancelled at the server; a connection that
// stays silent then is destroyed.
import { unavailable } from "../../contract/errors.js";
import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientConfig, Pool, PoolClient } from "pg";
import { Bulkhead, type Leave } from "../../operations/bulkhead.js";
import type { Lifetime } from "../../ports/lifetime.js";
import { within } from "../../operations/within.js";
import type { Work } from "../../ports/work.js";
import type { SqlRow } from "../sql/session.js";
import { translated } from "./faults.js";

/** Milliseconds for a new connection, and for a server to end what it has been asked to. */
const connectMillis = 5_000;
const cancelMillis = 1_000;
const keepAliveMillis = 10_000;
/** How often, and for how long, the server is asked to end what was given up. */
const retryMillis = 1_000;
const patienceMillis = 60_000;
/** Statements that may wait for a connection. */
const waiting = { maxWaiting: 4_096, maxWaitingPerPayer: 1_024 };

export interface ConnectionOptions {
  readonly url: string;
  /** Connections in all. */
  readonly size: number;
  /** What the server ends statements after that nobody else has ended, in milliseconds. */
  readonly statementMillis: number;
  readonly typeParser: (oid: number, format: never) => unknown;
}

export interface Answered {
  readonly rows: readonly SqlRow[];
  readonly rowCount: number | null;
  readonly command: string;
}

/** A statement for `pg`; with a name it is prepared once a connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** A connection that somebody holds. */
export interface HeldConnection {
  /** Runs one statement; at the end of the lifetime it is cancelled at the server, and rejects. */
  query(statement: Statement, lifetime: Lifetime): Promise<Answered>;
  /** Whether a statement is under way. */
  readonly isBusy: boolean;
  /** Resolves once nothing is under way: at the latest when the connection has been destroyed. */
  idle(): Promise<void>;
  /** Gives the connection back; one that is broken, or busy, is destroyed. */
  release(isBroken?: boolean): void;
}

export interface Connections {
  acquire(work: Work): Promise<HeldConnection>;
  readonly callers: Bulkhead;
  readonly service: Bulkhead;
  close(): Promise<void>;
}

/** What is used of `pg`. */
type Driver = Pick<typeof import("pg"), "Client" | "Pool">;

/** Opens the pools; the first statement opens the first connection. */
export function openConnections(pg: Driver, options: ConnectionOptions): Connections {
  const own = Math.max(2, Math.ceil(options.size * 0.3));
  const theirs = Math.max(1, options.size - own);
  const callers = new Bulkhead({ ...waiting, size: theirs, shareOf: () => theirs / 2 });
  const service = new Bulkhead({
    size: own,
    shareOf: () => own,
    maxWaiting: waiting.maxWaiting,
    maxWaitingPerPayer: waiting.maxWaiting,
  });
  const callersPool = poolOf(pg, options, theirs);
  const servicePool = poolOf(pg, options, own);
  // Cancelling waits for nobody: it has a connection of its own.
  const cancelPool = poolOf(pg, options, 1);

  const closing = new AbortController();

  const tell = async (ending: Ending, { client, name }: Known): Promise<void> => {
    const pid = (client as { readonly processID?: number | null }).processID ?? null;
    if (pid === null) return;
    // Behind a pooler the number is another one's: only who has our name is ended.
    const text = `SELECT ${ending}($1) FROM pg_stat_get_activity($1) WHERE application_name = $2`;
    const canceller = await cancelPool.connect();
    try {
      await answeredIn(cancelMillis, canceller.query(text, [pid, name]));
      canceller.release();
    } catch (error) {
      // A silent one would have every further cancel wait for it.
      known.get(canceller)?.socket.destroy();
      canceller.release(true);
      throw error;
    }
  };

  /** Connections that were given up, and until when their ends are tried. */
  const lost = new Map<Known, number>();
  let terminating: Promise<void> | undefined;
  /** One after the other, so that cancels wait for one of them at most. */
  const terminateLost = async (): Promise<void> => {
    while (lost.size > 0 && !closing.signal.aborted) {
      for (const [connection, until] of lost) {
        try {
          await tell("pg_terminate_backend", connection);
          lost.delete(connection);
        } catch {
          if (performance.now() > until) lost.delete(connection);
          await sleep(retryMillis, undefined, { ref: false });
        }
      }
    }
  };
  const ends: Ends = {
    cancel: (connection) => tell("pg_cancel_backend", connection),
    terminate(connection) {
      lost.set(connection, performance.now() + patienceMillis);
      terminating ??= terminateLost().finally(() => (terminating = undefined));
    },
  };

  return {
    callers,
    service,

    async acquire(work) {
      const [bulkhead, pool] =
        work.payer === null ? [service, servicePool] : [callers, callersPool];
      const leave = await bulkhead.enter(work);
      try {
        return held(await connected(pool, work.lifetime), leave, ends);
      } catch (error) {
        leave();
        throw translated(error);
      }
    },

    async close() {
      closing.abort();
      await Promise.all([callersPool, servicePool, cancelPool].map((pool) => pool.end()));
    },
  };
}

/** A connection with the name that the server knows it by, and its socket. */
interface Known {
  readonly client: PoolClient;
  readonly name: string;
  readonly socket: Socket;
}

/** How a backend is ended: its statement, or all of it. */
type Ending = "pg_cancel_backend" | "pg_terminate_backend";

interface Ends {
  cancel(connection: Known): Promise<void>;
  /**
   * Ends what a connection that was given up still holds, as soon as the server can be reached: behind a silent network it
   * does not know yet, and keeps the locks of the transaction.
   */
  terminate(connection: Known): void;
}

const known = new WeakMap<Client, Omit<Known, "client">>();

function poolOf(
  { Client: Base, Pool }: Driver,
  { url, statementMillis, typeParser }: ConnectionOptions,
  max: number,
): Pool {
  class Named extends Base {
    constructor(config?: ClientConfig) {
      const socket = new Socket();
      const name = `opwright ${randomBytes(6).toString("hex")}`;
      super({ ...config, application_name: name, stream: () => socket });
      known.set(this, { name, socket });
      // A connection that breaks while idle is replaced by the pool; without a listener it would end the process.
      this.on("error", () => undefined);
    }
  }
  const pool = new Pool({
    Client: Named,
    connectionString: url,
    max,
    // A statement need not wait for the answer of the one before.
    pipeline: true,
    connectionTimeoutMillis: connectMillis,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMillis,
    statement_timeout: statementMillis,
    idle_in_transaction_session_timeout: statementMillis,
    types: { getTypeParser: typeParser as never },
  });
  pool.on("error", () => undefined);
  return pool;
}

/** A connection of the pool, unless the work is over before there is one. */
async function connected(pool: Pool, lifetime: Lifetime): Promise<Known> {
  const connecting = pool.connect();
  let client: PoolClient;
  try {
    client = await lifetime.race(connecting);
  } catch (error) {
    // It may come all the same, and is for others then.
    connecting.then(
      (late) => late.release(),
      () => undefined,
    );
    throw error;
  }
  const found = known.get(client);
  if (found === undefined) throw unavailable(new Error("a connection of another pool"));
  return { client, ...found };
}

function held(connection: Known, leave: Leave, ends: Ends): HeldConnection {
  const { client, socket } = connection;
  /** Statements that have been sent and not answered, in their order. */
  const running = new Set<Promise<unknown>>();
  let isReleased = false;
  let isTainted = false;
  /** The cancel that is under way: one for the connection, whatever is queued on it. */
  let cancelling: Promise<void> | undefined;
  const cancelOnce = (): Promise<void> =>
    (cancelling ??= answeredIn(cancelMillis, ends.cancel(connection))
      // One without an answer may come yet.
      .catch(() => (isTainted = true))
      .then(() => (cancelling = undefined)));

  /** Has the server end the statement; where it does not, nobody waits for the connection any more. */
  const end = async (statement: Promise<unknown>): Promise<void> => {
    let hasEnded = false;
    const cancelled = cancelOnce();
    const note = (): void => {
      hasEnded = true;
      // A cancel that comes late would end the next statement.
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
      });
      try {
        return await answer;
      } catch (error) {
        throw reason ?? translated(error);
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

/** Settles as the promise does; rejects with `core.unavailable` where the database stays silent for so many milliseconds. */
export function answeredIn<T>(millis: number, work: Promise<T>): Promise<T> {
  return within(millis, work, () => unavailable(new Error("the database does not answer")));
}
