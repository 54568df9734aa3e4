// The bus over LISTEN and NOTIFY, on one connection of its own: it tells what has been committed, and holds no commit up.
import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import type { Log } from "../../operations/log.js";
import type { BusListener, BusMessage, SignalBus } from "../../realtime/bus-port.js";

/** Of all processes on one database. */
const channel = "opwright_signals";
/** Characters of one notification's part of a message: PostgreSQL takes less than 8 000 bytes. */
const partLength = 7_800;
/** Characters that wait for being sent; beyond them messages are lost, and mailboxes make up for it. */
const maxWaiting = 16 * 1024 * 1024;
const longestPauseMillis = 5_000;

/** Connects in the background, again and again where it breaks off. Connections through a pooler of transactions hear nothing. */
export async function openPostgresBus(url: string, log: Log): Promise<SignalBus> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new Error("PostgreSQL needs the package pg: npm install pg", { cause });
  });
  const origin = randomBytes(8).toString("hex");
  const incoming = new Map<string, Assembly>();
  let listener: BusListener | undefined;
  let client: Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;
  let count = 0;
  let waiting: string[] = [];
  let waitingLength = 0;
  let flushing: Promise<void> | undefined;

  const hear = (payload: string): void => {
    const part = readPart(payload);
    if (part === null || part.origin === origin) return;
    const text = assembled(incoming, part);
    if (text === null) return;
    try {
      listener?.heard(JSON.parse(text) as BusMessage);
    } catch (error) {
      log.warn({ err: error }, "another process told what this one does not understand");
    }
  };

  const connect = async (pauseMillis: number): Promise<void> => {
    const next = new pg.Client({
      connectionString: url,
      application_name: "opwright bus",
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    let hasEnded = false;
    const again = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (client === next) client = undefined;
      if (isClosed) return;
      const longer = Math.min(pauseMillis * 2, longestPauseMillis);
      retry = setTimeout(() => void connect(longer), pauseMillis * (0.5 + Math.random()));
      retry.unref();
    };
    next.on("error", again);
    next.on("end", again);
    next.on("notification", ({ payload }) => hear(payload ?? ""));
    try {
      await next.connect();
      await next.query(`LISTEN ${channel}`);
    } catch (error) {
      log.warn({ err: error }, "the bus of signals does not answer");
      again();
      await next.end().catch(() => undefined);
      return;
    }
    if (isClosed || hasEnded) return void (await next.end().catch(() => undefined));
    client = next;
    listener?.resumed();
  };

  const flush = async (): Promise<void> => {
    // What is sent in one turn goes in one statement.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const parts = waiting;
      waiting = [];
      waitingLength = 0;
      try {
        const text = `SELECT pg_notify($1, part) FROM unnest($2::text[]) WITH ORDINALITY AS p(part, place) ORDER BY place`;
        await client?.query(text, [channel, parts]);
      } catch (error) {
        log.warn({ err: error }, "signals could not be told to other processes");
      }
    }
  };

  const first = connect(100);
  return {
    send(message) {
      if (isClosed || client === undefined || waitingLength > maxWaiting) return;
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
      if (client === undefined) throw new Error("the bus does not answer");
      await client.query("SELECT 1");
    },

    async close() {
      isClosed = true;
      clearTimeout(retry);
      await first;
      await flushing;
      await client?.end().catch(() => undefined);
    },
  };
}

/** A message in parts that are ASCII: `<origin>.<message>.<index>.<parts>.<base64>`. */
function partsOf(origin: string, message: number, text: string): readonly string[] {
  const encoded = Buffer.from(text, "utf8").toString("base64");
  const length = Math.ceil(encoded.length / partLength);
  return Array.from({ length }, (_none, index) => {
    const slice = encoded.slice(index * partLength, (index + 1) * partLength);
    return `${origin}.${message}.${index}.${length}.${slice}`;
  });
}

interface Part {
  readonly origin: string;
  readonly message: number;
  readonly index: number;
  readonly length: number;
  readonly slice: string;
}

/** What has arrived of a process's message. */
interface Assembly {
  readonly message: number;
  readonly slices: string[];
}

function readPart(payload: string): Part | null {
  const [, origin, message, index, length, slice] =
    /^([0-9a-f]{16})\.(\d+)\.(\d+)\.(\d+)\.([A-Za-z0-9+/=]*)$/.exec(payload) ?? [];
  if (origin === undefined || slice === undefined) return null;
  return {
    origin,
    message: Number(message),
    index: Number(index),
    length: Number(length),
    slice,
  };
}

/** The message, once its last part is there; parts of one process come in order, or with a hole that loses the message. */
function assembled(incoming: Map<string, Assembly>, part: Part): string | null {
  const { origin, message, index, length, slice } = part;
  const before = incoming.get(origin);
  const slices = index === 0 ? [] : before?.message === message ? before.slices : undefined;
  if (slices === undefined || slices.length !== index) {
    incoming.delete(origin);
    return null;
  }
  slices.push(slice);
  if (slices.length < length) {
    incoming.set(origin, { message, slices });
    return null;
  }
  incoming.delete(origin);
  return Buffer.from(slices.join(""), "base64").toString("utf8");
}
