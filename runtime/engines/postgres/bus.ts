// The bus over LISTEN and NOTIFY, on a connection of its own: NOTIFY in a transaction would hold up
// its commit.
import { Socket } from "node:net";
import type * as Pg from "pg";
import type { Log } from "../../ports/log.js";
import { heartbeat } from "../../work/heartbeat.js";
import { tellOnce } from "../../work/tell-once.js";
import { within } from "../../work/within.js";
import { isLoss, type BusListener, type BusMessage, type SignalBus } from "../../ports/bus.js";
import { serverAddresses, type ServerAddresses } from "./addresses.js";
import { loadDriver, processIdOf } from "./driver.js";
import { changedBusSession } from "./faults.js";
import { hasLentSession, type Asking } from "./lent-session.js";
import { assembleMessage, partsOf, readPart, type Assembly } from "./bus-parts.js";
import { sessionOptions, settleSession } from "./session-settings.js";
import {
  drawBytes,
  drawFraction,
  monotonicMillis,
  nextTurn,
  startTimer,
} from "../../ports/ambient.js";

/** Shared by all processes on one database. */
const channel = "opwright_signals";
/**
 * Characters that may wait to be sent. Further messages are dropped, which the port allows
 * (ports/bus.ts).
 */
const maxWaiting = 16 * 1024 * 1024;
/** Milliseconds before it is connected again, at first and at most. */
const shortestPauseMillis = 100;
const longestPauseMillis = 1_000;
/** Milliseconds to wait for a connection, and for the end of a statement. */
const answerMillis = 5_000;

/**
 * Connects in the background and reconnects by itself. Behind a pooler in transaction mode it
 * stays without a connection, and says why. Throws if the package `pg` is not installed.
 */
export async function openPostgresBus(url: string, log: Log): Promise<SignalBus> {
  const pg = await loadDriver();
  const origin = drawBytes(8).toString("hex");
  const incoming = new Map<string, Assembly>();
  let listener: BusListener | undefined;
  let isClosed = false;
  let count = 0;
  let waiting: string[] = [];
  let waitingLength = 0;
  let flushing: Promise<void> | undefined;

  const hear = (payload: string): void => {
    const part = readPart(payload);
    if (part === null || part.origin === origin) return;
    const text = assembleMessage(incoming, part);
    if (text === null) return;
    try {
      listener?.heard(JSON.parse(text) as BusMessage);
    } catch (error) {
      log.warn({ err: error }, "another process told what this one does not understand");
    }
  };

  const line = keptLine(pg, serverAddresses(url), log, hear, () => listener?.resumed());

  const flush = async (): Promise<void> => {
    // All messages of one turn of the event loop go in one statement.
    await nextTurn();
    while (waiting.length > 0) {
      const parts = waiting;
      waiting = [];
      waitingLength = 0;
      try {
        const text = `SELECT pg_notify($1, part) FROM unnest($2::text[]) WITH ORDINALITY AS p(part, place) ORDER BY place`;
        await line.client?.query(text, [channel, parts]);
        if (line.client === undefined) listener?.lost();
      } catch (error) {
        log.warn({ err: error }, "signals could not be told to other processes");
        listener?.lost();
      }
    }
  };

  return {
    send(message) {
      if (isClosed) return;
      if (line.client === undefined || waitingLength > maxWaiting) {
        if (isLoss(message)) listener?.lost();
        return;
      }
      count += 1;
      for (const part of partsOf(origin, count, JSON.stringify(message))) {
        waiting.push(part);
        waitingLength += part.length;
      }
      flushing ??= flush().finally(() => {
        flushing = undefined;
      });
    },

    listen(given) {
      listener = given;
    },

    async probe() {
      if (line.client === undefined) throw new Error("the bus does not answer");
      await line.client.query("SELECT 1");
    },

    async close() {
      isClosed = true;
      await line.hangUp();
      await flushing;
      await line.client?.end().catch(() => undefined);
    },
  };
}

/** A connection that listens, and is replaced when it ends or goes silent. */
interface Line {
  /** Undefined while there is no connection. */
  readonly client: Pg.Client | undefined;
  /** Stops connecting again. Resolves when the first attempt to connect is over. */
  hangUp(): Promise<void>;
}

const silent = (): Error => new Error(`no answer in ${answerMillis} ms`);

function keptLine(
  pg: Pick<typeof Pg, "Client">,
  { urls, options }: ServerAddresses,
  log: Log,
  hear: (payload: string) => void,
  resumed: () => void,
): Line {
  let current: { readonly client: Pg.Client; readonly socket: Socket } | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isHungUp = false;
  let pauseMillis = shortestPauseMillis;
  const outage = tellOnce((err) => log.warn({ err }, "the bus of signals does not answer"));
  // A standby refuses LISTEN, so this finds the server that accepts writes.
  let server = 0;
  const connect = async (): Promise<void> => {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: urls[server] ?? "",
      application_name: "opwright bus",
      options: sessionOptions(options),
      statement_timeout: answerMillis,
      connectionTimeoutMillis: answerMillis,
      keepAlive: true,
      stream: () => socket,
    });
    let hasEnded = false;
    /** By `monotonicMillis`. */
    let listensSince = Infinity;
    const again = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (current?.client === client) current = undefined;
      if (isHungUp) return;
      // A server that takes connections and ends them at once is not asked more often for that.
      if (monotonicMillis() - listensSince > longestPauseMillis) pauseMillis = shortestPauseMillis;
      retry = startTimer(() => void connect(), pauseMillis * (0.5 + drawFraction())).unref();
      pauseMillis = Math.min(pauseMillis * 2, longestPauseMillis);
    };
    client.on("error", again);
    client.on("end", again);
    client.on("notification", ({ payload }) => hear(payload ?? ""));
    try {
      await client.connect();
      await within(answerMillis, expectOwnSession(pg, client), silent);
      await within(answerMillis, client.query(settleSession), silent);
      await within(answerMillis, client.query(`LISTEN ${channel}`), silent);
    } catch (error) {
      outage.tell(error);
      server = (server + 1) % urls.length;
      again();
      socket.destroy();
      return;
    }
    if (isHungUp || hasEnded) return void socket.destroy();
    listensSince = monotonicMillis();
    current = { client, socket };
    outage.end();
    resumed();
  };
  let asked: typeof current;
  const beat = heartbeat(
    async () => {
      asked = current;
      await asked?.client.query("SELECT 1");
    },
    (silence) => {
      outage.tell(silence);
      // Not `end`, which waits for the other side where no statement is under way. What waits for
      // an answer rejects.
      asked?.socket.destroy();
    },
  );
  const first = connect();
  return {
    get client() {
      return current?.client;
    },
    async hangUp() {
      isHungUp = true;
      beat.stop();
      clearTimeout(retry);
      await first;
    },
  };
}

/**
 * Rejects if a pooler lends the connection another session for each transaction: it would hear
 * nothing, and somebody else what is meant for it.
 */
async function expectOwnSession(pg: Pick<typeof Pg, "Client">, client: Pg.Client): Promise<void> {
  const askerOf = (one: Pg.Client): Asking => ({
    processId: processIdOf(one),
    ask: async (text) => (await one.query<Record<string, unknown>>(text)).rows,
  });
  // Destroyed in the end, since a goodbye would wait for a server that is silent.
  const socket = new Socket();
  try {
    const isLent = await hasLentSession(askerOf(client), async () => {
      const { host, port, user, password, database, ssl } = client;
      const second = new pg.Client({
        host,
        port,
        user,
        password,
        database,
        ssl,
        connectionTimeoutMillis: answerMillis,
        query_timeout: answerMillis,
        stream: () => socket,
      });
      second.on("error", () => undefined);
      await second.connect();
      return askerOf(second);
    });
    if (isLent) throw changedBusSession();
  } finally {
    socket.destroy();
  }
}
