// The relay: delivers staged events to their destinations, at least once, up to a number of
// attempts (service.md "Integration events (outbox)").
import { presentName, storedNames, type FirstNames } from "../../contract/former-names.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { missingAwait } from "../../operations/calls.js";
import { runHeld } from "../../operations/held-calls.js";
import type { Poller } from "../../work/poller.js";
import {
  startQueue,
  storeMillis,
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
import { idsOf, traceLaterWork, type BegunTrace } from "../../ports/tracer.js";
import type { Destination } from "./spec.js";
import { outboxStore } from "../../ports/outbox.js";

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
/** A batch whose destination hangs leaves room for others. */
const maxBatches = 4;
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
    waitsFor: "the destination",
    claim: claimer(options),
    attempt: (event, lifetime) =>
      traceLaterWork(options.service.tracer, `outbox ${event.name}`, event, (trace) =>
        deliver(options, event, lifetime, trace),
      ),
    endBy: (fault) => ({ ...unanswered, reason: reasonOf(fault) }),
    async settle(event, { reason }, at, dueAt) {
      const isNoted = await database.write(noteOptions(), (transaction) => {
        const store = transaction.of(outboxStore);
        if (reason === null) return store.remove(event.id);
        return store.fail(event, dueAt, at, reason);
      });
      if (reason === null || !isNoted) return;
      if (dueAt === null) noteEnd(options, event, reason);
      else noteFailure(options, event, reason);
    },
    release: (event, at) =>
      database.write(noteOptions(), (transaction) =>
        transaction.of(outboxStore).release(event, at),
      ),
  });
}

/** An attempt without an answer that would count while the service stops. */
const unanswered = { isAnswered: false, isFinal: false };

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

/** Hands an event to its destination. */
async function deliver(
  { destinations, service }: RelayOptions,
  { id, name, tenant, attempt, createdAt, payload, shape }: ClaimedEvent,
  lifetime: Lifetime,
  trace: BegunTrace,
): Promise<AttemptEnd> {
  const destination = destinations[name] ?? unknown;
  const data: unknown = JSON.parse(
    service.kept.events(name).told(service.sealer.open(payload, id), shape),
  );
  const created = new Date(createdAt).toISOString();
  const context = service.context(`outbox.${name}`, tenant, lifetime, trace);
  const delivered = { id, name, data, tenant, created_at: created, attempt };
  await runHeld(context, destination, (own) => destination(delivered, own));
  return { ...unanswered, reason: null };
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

type Told = Pick<ClaimedEvent, "id" | "name" | "attempt" | "traceparent">;

function noteFailure({ service }: RelayOptions, event: Told, reason: string): void {
  tally(service, "outbox_failed");
  service.log.warn(lineOf(event, reason), "an integration event was not delivered yet");
}

function noteEnd({ service }: RelayOptions, event: Told, reason: string): void {
  tally(service, "outbox_failed");
  tally(service, "outbox_given_up");
  service.log.error(lineOf(event, reason), "an integration event was given up");
}

function lineOf({ id, name, attempt, traceparent }: Told, reason: string) {
  return { event: name, id, attempt, reason, ...idsOf(traceparent) };
}

/** Only names with a destination are claimed. */
const unknown: Destination = () => Promise.reject(new Error("no destination"));
