// The relay: takes staged events to their destinations, at least once, and gives up in the end (service.md "outbox, relay, queue").
import type { Database } from "../operations/database.js";
import { Lifetime } from "../operations/lifetime.js";
import type { Log } from "../operations/log.js";
import type { ClaimedEvent } from "./port.js";
import type { Destination } from "./spec.js";

export interface RelayOptions {
  readonly database: Database;
  readonly log: Log;
  readonly destinations: Readonly<Record<string, Destination>>;
  /** After so many attempts an event is given up and kept as a dead letter. */
  readonly maxAttempts: number;
  /** The first wait is random up to this, and doubles: full jitter. */
  readonly backoffMillis: number;
}

export interface Relay {
  /** Something was staged: look now rather than at the next poll. */
  wake(): void;
  /** Begins nothing more and waits for what is under way. */
  stop(): Promise<void>;
}

const batch = 16;
/** Longer than any destination may take: what a relay has claimed is its own until then. */
const leaseMillis = 30_000;
const longestWaitMillis = 5 * 60_000;
/** The commit wakes the relay; polling finds what other processes staged and what is due again. */
const pollMillis = 1_000;

/** Starts a relay. Several may work on one database; each event is held by one at a time. */
export function startRelay(options: RelayOptions): Relay {
  const { database, log } = options;
  let running: Promise<void> | undefined;
  const state = { isWanted: false, isStopped: false };

  const drain = async (): Promise<void> => {
    while (state.isWanted && !state.isStopped) {
      state.isWanted = false;
      try {
        if (await round(options)) state.isWanted = true;
      } catch (error) {
        log.error({ err: error }, "the relay could not read the outbox");
      }
    }
  };
  const wake = (): void => {
    state.isWanted = true;
    running ??= drain().finally(() => {
      running = undefined;
    });
  };
  const poll = setInterval(wake, pollMillis);
  poll.unref();
  wake();
  return {
    wake,
    async stop() {
      state.isStopped = true;
      clearInterval(poll);
      await running;
    },
  };

  /** Delivers one batch; true where there may be more. */
  async function round({ destinations }: RelayOptions): Promise<boolean> {
    const now = Date.now();
    if (!(await database.reader.outbox.hasDue(now))) return false;
    const claimed = await database.write({ lifetime: Lifetime.unlimited() }, ({ outbox }) =>
      outbox.claim(now, now + leaseMillis, batch),
    );
    const unsettled = (error: unknown): void =>
      log.error({ err: error }, "the relay could not note what became of an event");
    await Promise.all(
      claimed.map((event) => deliver(options, event, destinations[event.name]).catch(unsettled)),
    );
    return claimed.length === batch;
  }
}

async function deliver(
  options: RelayOptions,
  event: ClaimedEvent,
  destination: Destination | undefined,
): Promise<void> {
  const { database, log } = options;
  const { id, name, tenant, attempt } = event;
  const settle = { lifetime: Lifetime.unlimited() };
  try {
    if (destination === undefined) throw new Error("the service has no destination for this event");
    const created = new Date(event.createdAt).toISOString();
    const data: unknown = JSON.parse(event.payload);
    await destination({ id, name, data, tenant, created_at: created, attempt });
    await database.write(settle, ({ outbox }) => outbox.remove(id));
  } catch (error) {
    const now = Date.now();
    const isDead = attempt >= options.maxAttempts || destination === undefined;
    const dueAt = isDead ? null : now + backoff(options, attempt);
    // Of the error only the message, cut: a payload may hold a secret.
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, 200);
    const entry = { event: name, id, attempt, reason };
    if (isDead) log.error(entry, "an integration event was given up");
    else log.warn(entry, "an integration event was not delivered yet");
    await database.write(settle, ({ outbox }) => outbox.fail(id, dueAt, now, reason));
  }
}

/** Whole milliseconds. */
function backoff({ backoffMillis }: RelayOptions, attempt: number): number {
  const longest = Math.min(longestWaitMillis, backoffMillis * 2 ** (attempt - 1));
  return Math.round(Math.random() * longest);
}
