// Delivers events to the webhooks that subscribed to them, at least once each, up to a number of
// attempts. Whoever is slow uses a limited share of the deliverer, and whoever has lost the right
// is told nothing.
import { presentName, storedNames } from "../../contract/former-names.js";
import { missingAwait } from "../../operations/calls.js";
import type { ServiceAtWork, Started } from "../../operations/family.js";
import { post } from "../../operations/outgoing-call.js";
import {
  startQueue,
  storeMillis,
  type AttemptEnd,
  type ClaimedWork,
  type LeaseWindow,
} from "../../work/queue.js";
import { signedMessage } from "../../operations/standard-webhook.js";
import { tally } from "../../operations/tally.js";
import { messageOf } from "../../operations/thrown.js";
import { Lifetime } from "../../ports/lifetime.js";
import { idsOf, traceLaterWork, type BegunTrace } from "../../ports/tracer.js";
import { webhookStore, type ClaimedDelivery, type WebhookStore } from "../../ports/webhooks.js";
import { isCallable, lookupPublic } from "./address.js";
import { refusalOf } from "./rights.js";
import { secretOf } from "./secret.js";
import type { WebhookSettings } from "./settings.js";
import { Shares } from "./shares.js";
import { testEvent, type WebhooksSpec } from "./spec.js";

const longestWaitMillis = 60 * 60_000;

/** What deliveries are made with. */
interface Delivering {
  readonly spec: WebhooksSpec;
  readonly service: ServiceAtWork;
  readonly settings: WebhookSettings;
}

/**
 * Starts to deliver. Several processes may do so on one database; each delivery is held by one at a
 * time.
 */
export function startDeliverer(
  spec: WebhooksSpec,
  service: ServiceAtWork,
  settings: WebhookSettings,
): Started {
  const { clock, database, log } = service;
  const note = <T>(work: (store: Stored) => Promise<T>): Promise<T> =>
    database.write({ lifetime: Lifetime.within(storeMillis) }, (stores) =>
      work(stores.of(webhookStore)),
    );
  const poller = startQueue<ClaimedDelivery, Attempt>({
    clock,
    log,
    maxAttempts: settings.maxAttempts,
    // At least half of the bound, so that an absent webhook isn't called again at once.
    backoff: {
      firstMillis: settings.backoffMillis,
      longestMillis: longestWaitMillis,
      leastShare: 0.5,
    },
    messages: {
      unread: "deliveries of webhooks could not be read",
      unnoted: "a delivery could not be noted",
    },
    waitsFor: "the delivery",
    claim: claimer({ spec, service, settings }),
    attempt: (delivery, lifetime) => {
      const { event, attempt: number } = delivery;
      const of = { traceparent: event.traceparent, attempt: number };
      return traceLaterWork(service.tracer, `webhook ${event.name}`, of, async (trace) => {
        const end = await attempt({ spec, service, settings }, delivery, lifetime, trace);
        if (end.reason !== null) trace.span?.fail(end.isRefused ? "refused" : String(end.status));
        return end;
      });
    },
    endBy: (fault) => unansweredAttempt(missingAwait(fault) ?? messageOf(fault).slice(0, 200)),
    async settle(delivery, end, at, dueAt) {
      const { status, reason: error } = end;
      const outcome = { at, isDelivered: error === null, dueAt, status, error };
      if (!(await note((store) => store.settle(delivery, outcome)))) return;
      if (error === null) tally(service, "webhooks_delivered");
      else noteFailure(service, delivery, end, dueAt === null);
    },
    release: (delivery, at) => note((store) => store.release(delivery, at)),
  });
  service.whenWoken(webhookStore, poller.wake);
  return poller;
}

/** Makes the function that claims deliveries, in turns between those who wait. */
function claimer({ spec, service, settings }: Delivering) {
  const { database, log } = service;
  const shares = new Shares();
  // What guards other events is known to other processes, and so is what they are called.
  const known = [...storedNames(spec.was, Object.keys(spec.events)), testEvent];
  let last: string | null = null;

  return async (window: LeaseWindow): Promise<ClaimedWork<ClaimedDelivery> | null> => {
    if (!shares.hasRoom || !(await database.reader.of(webhookStore).hasDue(window.now)))
      return null;
    // Turns that no delivery was claimed for, by webhook.
    let unused: ReturnType<Shares["begin"]> = [];
    try {
      const claim = await database.write({ lifetime: Lifetime.within(storeMillis) }, (stores) =>
        stores.of(webhookStore).claim({
          ...window,
          after: last,
          maxAttempts: settings.maxAttempts,
          events: known,
          turnsOf: (waiting) => (unused = shares.begin(waiting)),
        }),
      );
      const batches = claim.claimed.map((delivery) => {
        const { event, webhook } = delivery;
        const at = unused.findIndex(({ id }) => id === webhook.id);
        unused = unused.filter((_turn, index) => index !== at);
        const item = { ...delivery, event: { ...event, name: presentName(spec.was, event.name) } };
        return { items: [item], end: () => shares.end(webhook) };
      });
      for (const { id, webhookId } of claim.givenUp) {
        tally(service, "webhooks_given_up");
        log.error(
          { webhook: webhookId, delivery: id, reason: "the process ended during delivery" },
          "a delivery of a webhook was given up",
        );
      }
      last = claim.last;
      const isMore = batches.length > 0 || claim.givenUp.length > 0 || last !== null;
      return { batches, isMore };
    } finally {
      for (const turn of unused) shares.end(turn);
    }
  };
}

/** A failed attempt is a line of the log and a count of the metrics. */
function noteFailure(
  service: ServiceAtWork,
  { id, attempt, event, webhook }: ClaimedDelivery,
  { reason, isRefused }: Attempt,
  isOver: boolean,
): void {
  const { log } = service;
  const entry = {
    webhook: webhook.id,
    delivery: id,
    event: event.name,
    tenant: webhook.tenant,
    owner: webhook.principalId,
    attempt,
    reason,
    ...idsOf(event.traceparent),
  };
  if (isRefused) {
    tally(service, "webhooks_refused");
    log.warn(entry, "the owner of a webhook may no longer hear an event");
    return;
  }
  tally(service, "webhooks_failed");
  if (isOver) tally(service, "webhooks_given_up");
  if (isOver) log.error(entry, "a delivery of a webhook was given up");
  else log.warn(entry, "an event was not delivered to a webhook yet");
}

type Stored = Pick<WebhookStore, "release" | "settle">;

/** How an attempt ended. */
interface Attempt extends AttemptEnd {
  /** The status of the webhook's answer; null if there was none. */
  readonly status: number | null;
  /** Whether its owner may not hear the event: then it is over. */
  readonly isRefused: boolean;
}

/** An attempt without an answer. */
function unansweredAttempt(reason: string, isRefused = false): Attempt {
  return { status: null, reason, isRefused, isAnswered: false, isFinal: isRefused };
}

/** Calls the webhook, if its owner may hear the event. */
async function attempt(
  { spec, service, settings }: Delivering,
  { event, webhook, hasStanding }: ClaimedDelivery,
  lifetime: Lifetime,
  trace: BegunTrace,
): Promise<Attempt> {
  const context = service.context("webhooks.deliver", webhook.tenant, lifetime, trace);
  const refusal = hasStanding
    ? await refusalOf(spec, context, webhook.principalId, event.name)
    : "its owner is inactive or no longer a member";
  if (refusal !== null) return unansweredAttempt(refusal, true);
  const isOpen = isCallable(webhook.url, settings.reach);
  if (!isOpen) throw new Error("the address is not public");
  const kept = service.sealer.open(event.payload, event.id);
  const data: unknown = JSON.parse(service.kept.events(event.name).told(kept, event.shape));
  const createdAt = new Date(event.createdAt).toISOString();
  const message = { id: event.id, name: event.name, tenant: event.tenant, createdAt, data };
  const signed = signedMessage(message, [secretOf(service.sealer, webhook)]);
  const lookup = settings.reach === "public" ? { lookup: lookupPublic } : {};
  const { clock } = service;
  const status = await post({
    url: webhook.url,
    ...signed,
    ...lookup,
    clock,
    signal: lifetime.signal,
    trace: trace.span,
    traceparent: trace.traceparent,
  });
  const isTaken = status >= 200 && status <= 299;
  const reason = isTaken ? null : `the webhook answered ${status}`;
  // 410 says that the webhook is gone for good.
  return { status, reason, isRefused: false, isAnswered: true, isFinal: status === 410 };
}
