// The relay: delivers staged events to their destinations, at least once, up to a number of
// attempts (service.md "Integration events (outbox)").
import { presentName, storedNames, type FirstNames } from "../../contract/former-names.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { missingAwait } from "../../operations/calls.js";
import { runHeld } from "../../operations/held-calls.js";
import type { Poller } from "../../work/poller.js";
import {
  startQueue,
  type AttemptEnd,
  type Batch,
  type ClaimedWork,
  type LeaseWindow,
} from "../../work/queue.js";
import { tally } from "../../operations/tally.js";
import { messageOf } from "../../operations/thrown.js";
import type { WriteOptions } from "../../ports/database.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { ClaimedEvent } from "../../ports/outbox.js";
import type { Destination } from "./spec.js";
import { outboxStore } from "../../ports/outbox.js";
import { monotonicMillis } from "../../ports/ambient.js";

export interface RelayOptions {
  readonly service: ServiceAtWork;
  readonly destinations: Readonly<Record<string, Destination>>;
  /** What events were called first. */
  readonly was: FirstNames | undefined;
  /** After so many attempts an event is given up and kept as a dead letter. */
  readonly maxAttempts: number;
  /**
   * The upper bound of the first wait, which doubles; the wait is random below it (full jitter).
   */
  readonly backoffMillis: number;
}

const batchSize = 16;
/** Milliseconds for recording in the database what became of events. */
const storeMillis = 10_000;
/** A batch whose destination hangs leaves room for others. */
const maxBatches = 4;
/** A delivery is aborted before its event's lease ends. */
const patienceMillis = 20_000;
const longestWaitMillis = 5 * 60_000;

/** Starts a relay. Several may work on one database; each event is held by one at a time. */
export function startRelay(options: RelayOptions): Poller {
  const { clock, database, log } = options.service;
  const { maxAttempts } = options;
  return startQueue({
    clock,
    log,
    maxAttempts,
    // Random from nothing on (full jitter).
    backoff: {
      firstMillis: options.backoffMillis,
      longestMillis: longestWaitMillis,
      leastShare: 0,
    },
    messages: {
      unread: "the relay could not read the outbox",
      unnoted: "the relay could not note what became of an event",
    },
    claim: claimer(options),
    attempt: (event, stopping) => deliver(options, event, stopping),
    async settle(event, { reason }, at, dueAt) {
      // A delivered event was removed with its delivery.
      if (reason === null) return;
      if (dueAt === null) noteEnd(options, event, reason);
      else noteFailure(options, event, reason);
      await database.write(noteOptions(), (transaction) =>
        transaction.of(outboxStore).fail(event.id, dueAt, at, reason),
      );
    },
    release: ({ id }, at) =>
      database.write(noteOptions(), (transaction) => transaction.of(outboxStore).release(id, at)),
  });
}

/** Makes the function that claims batches of events, and one at a time of the suspect ones. */
function claimer(options: RelayOptions) {
  const { database } = options.service;
  // Other events are left to the processes that know their destinations.
  const names = storedNames(options.was, Object.keys(options.destinations));
  const present = (event: ClaimedEvent): ClaimedEvent => ({
    ...event,
    name: presentName(options.was, event.name),
  });
  // If the attempts before this one were all that an event has, it isn't delivered.
  const isOver = ({ attempt }: ClaimedEvent): boolean => attempt > options.maxAttempts;
  /** Batches under way, and whether an event is that may end the process. */
  const state = { batches: 0, isSuspectUnderWay: false };

  return async (window: LeaseWindow): Promise<ClaimedWork<ClaimedEvent> | null> => {
    const hasRoom = state.batches < maxBatches;
    const mayTry = !state.isSuspectUnderWay;
    const { now } = window;
    if (!(hasRoom || mayTry) || !(await database.reader.of(outboxStore).hasDue(names, now)))
      return null;
    const { ended, batch, suspects } = await database.write(noteOptions(), async (transaction) => {
      const store = transaction.of(outboxStore);
      const claimed = hasRoom ? await store.claim(names, { ...window, limit: batchSize }) : [];
      // One at a time: if it ends the process again, no other suspect ends with it.
      const tried = mayTry
        ? await store.claim(names, { ...window, limit: 1, areSuspect: true })
        : [];
      // Whoever delivers an event tells it under the name that it knows.
      const [events, suspected] = [claimed.map(present), tried.map(present)];
      const over = [...events, ...suspected].filter(isOver);
      for (const { id } of over) await store.giveUp(id, now);
      return {
        ended: over,
        batch: events.filter((event) => !isOver(event)),
        suspects: suspected.filter((event) => !isOver(event)),
      };
    });
    for (const event of ended)
      noteEnd(
        options,
        { ...event, attempt: event.attempt - 1 },
        "the process ended during delivery",
      );
    const batches: Batch<ClaimedEvent>[] = [];
    if (batch.length > 0) {
      state.batches += 1;
      batches.push({ items: batch, end: () => (state.batches -= 1) });
    }
    if (suspects.length > 0) {
      state.isSuspectUnderWay = true;
      batches.push({ items: suspects, end: () => (state.isSuspectUnderWay = false) });
    }
    return { batches, isMore: batch.length === batchSize || ended.length > 0 };
  };
}

function noteOptions(): WriteOptions {
  return { lifetime: Lifetime.within(storeMillis) };
}

/** Hands an event to its destination, and removes it. */
async function deliver(
  options: RelayOptions,
  event: ClaimedEvent,
  stopping: AbortSignal,
): Promise<AttemptEnd> {
  const { database, clock, context: contextOf, kept, sealer } = options.service;
  const { id, name, tenant, attempt } = event;
  const destination = options.destinations[name] ?? unknown;
  const gone = goneWith(stopping);
  const end = { isAnswered: false, isFinal: false };
  try {
    const created = new Date(event.createdAt).toISOString();
    const text = kept.events(name).told(sealer.open(event.payload, id), event.shape);
    const data: unknown = JSON.parse(text);
    const deadlineAt = monotonicMillis() + patienceMillis;
    const lifetime = Lifetime.until(deadlineAt, gone.caller, clock);
    const context = contextOf(`outbox.${name}`, tenant, lifetime);
    const delivered = { id, name, data, tenant, created_at: created, attempt };
    const delivery = runHeld(context, destination, (own) => destination(delivered, own));
    await withPatience(delivery, lifetime);
    await database.write(noteOptions(), (transaction) => transaction.of(outboxStore).remove(id));
    return { ...end, reason: null };
  } catch (error) {
    return { ...end, reason: reasonOf(error) };
  } finally {
    gone.off();
  }
}

/**
 * Only the error's message, cut: a payload may hold a secret. Calls that were left behind are
 * named, with their lines.
 */
function reasonOf(error: unknown): string {
  const missing = missingAwait(error);
  if (missing !== null) return missing;
  return messageOf(error).slice(0, 200);
}

type Told = Pick<ClaimedEvent, "id" | "name" | "attempt">;

function noteFailure({ service }: RelayOptions, { id, name, attempt }: Told, reason: string): void {
  tally(service, "outbox_failed");
  service.log.warn(
    { event: name, id, attempt, reason },
    "an integration event was not delivered yet",
  );
}

function noteEnd({ service }: RelayOptions, { id, name, attempt }: Told, reason: string): void {
  tally(service, "outbox_failed");
  tally(service, "outbox_given_up");
  service.log.error({ event: name, id, attempt, reason }, "an integration event was given up");
}

/** A caller that goes when the relay stops, and how to forget it. */
function goneWith(stopping: AbortSignal) {
  let forget: (() => void) | undefined;
  const caller = {
    isGone: () => stopping.aborted,
    onGone(listener: () => void) {
      stopping.addEventListener("abort", listener);
      forget = () => stopping.removeEventListener("abort", listener);
    },
  };
  return { caller, off: () => forget?.() };
}

/** Only names with a destination are claimed. */
const unknown: Destination = () => Promise.reject(new Error("no destination"));

/**
 * Settles as the delivery does, or rejects when its time is over, so that one destination doesn't
 * delay the others.
 */
function withPatience(delivery: Promise<void>, lifetime: Lifetime): Promise<void> {
  return new Promise((resolve, reject) => {
    const off = lifetime.onOver(() =>
      reject(new Error(`the destination took longer than ${patienceMillis / 1000} s`)),
    );
    delivery.finally(off).then(resolve, reject);
  });
}
