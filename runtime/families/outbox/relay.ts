// The relay: delivers staged events to their destinations, at least once, up to a number of attempts (service.md "Integration events (outbox)").
import type { Clock } from "../../ports/clock.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Database, WriteOptions } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Log } from "../../ports/log.js";
import { startPoller, type Poller } from "../../operations/poller.js";
import type { Sealer } from "../../operations/sealer.js";
import type { ClaimedEvent } from "../../ports/outbox.js";
import type { Destination } from "./spec.js";
import { outboxStore } from "../../ports/outbox.js";

export interface RelayOptions {
  readonly clock: Clock;
  readonly database: Database;
  readonly log: Log;
  readonly sealer: Sealer;
  readonly destinations: Readonly<Record<string, Destination>>;
  /** The context in which an event of a tenant is delivered. */
  readonly contextOf: (event: string, tenant: string, lifetime: Lifetime) => ExecutionContext;
  /** After so many attempts an event is given up and kept as a dead letter. */
  readonly maxAttempts: number;
  /** The upper bound of the first wait, which doubles; the wait is random below it (full jitter). */
  readonly backoffMillis: number;
}

const batchSize = 16;
/** Milliseconds for recording in the database what became of events. */
const storeMillis = 10_000;
/** A batch whose destination hangs leaves room for others. */
const maxBatches = 4;
/** How long a relay holds the events that it has claimed; a delivery is aborted before that. */
const leaseMillis = 30_000;
const patienceMillis = 20_000;
const longestWaitMillis = 5 * 60_000;

/** Starts a relay. Several may work on one database; each event is held by one at a time. */
export function startRelay(options: RelayOptions): Poller {
  const { clock, database, log } = options;
  // Other events are left to the processes that know their destinations.
  const names = Object.keys(options.destinations);
  const poller = startPoller(take, (error) =>
    log.error({ err: error }, "the relay could not read the outbox"),
  );
  poller.wake();
  return poller;

  /** Claims a batch and begins to deliver it; its end makes room for another. */
  async function take(): Promise<boolean> {
    const now = clock.now();
    const isFull = poller.underWay === maxBatches;
    if (isFull || !(await database.reader.of(outboxStore).hasDue(names, now))) return false;
    const window = { now, leaseUntil: now + leaseMillis, limit: batchSize };
    const claimed = await database.write(
      { lifetime: Lifetime.within(storeMillis) },
      (transaction) => transaction.of(outboxStore).claim(names, window),
    );
    if (claimed.length === 0) return false;
    poller.track(Promise.all(claimed.map(settled)).then(() => undefined));
    return claimed.length === batchSize;
  }

  function settled(event: ClaimedEvent): Promise<void> {
    const destination = options.destinations[event.name] ?? unknown;
    return deliver(options, event, destination).catch((error: unknown) =>
      log.error({ err: error }, "the relay could not note what became of an event"),
    );
  }
}

async function deliver(
  options: RelayOptions,
  event: ClaimedEvent,
  destination: Destination,
): Promise<void> {
  const { clock, database, log } = options;
  const { id, name, tenant, attempt } = event;
  const settle = (): WriteOptions => ({ lifetime: Lifetime.within(storeMillis) });
  try {
    const created = new Date(event.createdAt).toISOString();
    const data: unknown = JSON.parse(options.sealer.open(event.payload, id));
    const lifetime = Lifetime.within(patienceMillis);
    const context = options.contextOf(name, tenant, lifetime);
    const delivered = { id, name, data, tenant, created_at: created, attempt };
    await withPatience(destination(delivered, context), lifetime);
    await database.write(settle(), (transaction) => transaction.of(outboxStore).remove(id));
  } catch (error) {
    const now = clock.now();
    const isDead = attempt >= options.maxAttempts;
    const dueAt = isDead ? null : now + backoff(options, attempt);
    // Only the error's message, cut: a payload may hold a secret.
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, 200);
    const entry = { event: name, id, attempt, reason };
    if (isDead) log.error(entry, "an integration event was given up");
    else log.warn(entry, "an integration event was not delivered yet");
    await database.write(settle(), (transaction) =>
      transaction.of(outboxStore).fail(id, dueAt, now, reason),
    );
  }
}

/** Only names with a destination are claimed. */
const unknown: Destination = () => Promise.reject(new Error("no destination"));

/** Settles as the delivery does, or rejects when its time is over, so that one destination doesn't delay the others. */
function withPatience(delivery: Promise<void>, lifetime: Lifetime): Promise<void> {
  return new Promise((resolve, reject) => {
    const off = lifetime.onOver(() =>
      reject(new Error(`the destination took longer than ${patienceMillis / 1000} s`)),
    );
    delivery.finally(off).then(resolve, reject);
  });
}

/** Whole milliseconds. */
function backoff({ backoffMillis }: RelayOptions, attempt: number): number {
  const longest = Math.min(longestWaitMillis, backoffMillis * 2 ** (attempt - 1));
  return Math.round(Math.random() * longest);
}
