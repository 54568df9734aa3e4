// Delivers events to the webhooks that subscribed to them, at least once each, up to a number of
// attempts. Whoever is slow uses a limited share of the deliverer, and whoever has lost the right
// is told nothing.
import { presentName, storedNames } from "../../contract/former-names.js";
import { missingAwait } from "../../operations/calls.js";
import type { ServiceAtWork, Started } from "../../operations/family.js";
import { post } from "../../operations/outgoing-call.js";
import { startPoller, type Poller } from "../../work/poller.js";
import { signedMessage } from "../../operations/standard-webhook.js";
import { tally } from "../../operations/tally.js";
import { messageOf } from "../../operations/thrown.js";
import { Lifetime } from "../../ports/lifetime.js";
import {
  webhookStore,
  type ClaimedDelivery,
  type DeliveryOutcome,
  type WebhookStore,
} from "../../ports/webhooks.js";
import { isCallable, lookupPublic } from "./address.js";
import { refusalOf } from "./rights.js";
import { secretOf } from "./secret.js";
import type { WebhookSettings } from "./settings.js";
import { Shares } from "./shares.js";
import { testEvent, type WebhooksSpec } from "./spec.js";
import { drawFraction } from "../../ports/ambient.js";

/** Milliseconds for reading and recording in the database. */
const storeMillis = 10_000;
/** How long this process holds a claimed delivery; its call and what is recorded take less. */
const leaseMillis = 30_000;
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
  const shares = new Shares();
  // What guards other events is known to other processes, and so is what they are called.
  const known = [...storedNames(spec.was, Object.keys(spec.events)), testEvent];
  let last: string | null = null;

  const begin = (claimed: ClaimedDelivery): void => {
    const work = settled({ spec, service, settings }, claimed, poller)
      .catch((error: unknown) => log.error({ err: error }, "a delivery could not be noted"))
      .then(() => shares.end(claimed.webhook));
    poller.track(work);
  };
  const take = async (): Promise<boolean> => {
    const now = clock.now();
    if (!shares.hasRoom || !(await database.reader.of(webhookStore).hasDue(now))) return false;
    // Turns that no delivery was claimed for, by webhook.
    let unused: ReturnType<Shares["begin"]> = [];
    try {
      const claim = await database.write({ lifetime: Lifetime.within(storeMillis) }, (stores) =>
        stores.of(webhookStore).claim({
          now,
          leaseUntil: now + leaseMillis,
          after: last,
          maxAttempts: settings.maxAttempts,
          events: known,
          turnsOf: (waiting) => (unused = shares.begin(waiting)),
        }),
      );
      for (const delivery of claim.claimed) {
        const at = unused.findIndex(({ id }) => id === delivery.webhook.id);
        unused = unused.filter((_turn, index) => index !== at);
        const { event } = delivery;
        begin({ ...delivery, event: { ...event, name: presentName(spec.was, event.name) } });
      }
      for (const { id, webhookId } of claim.givenUp) {
        tally(service, "webhooks_given_up");
        log.error(
          { webhook: webhookId, delivery: id, reason: "the process ended during delivery" },
          "a delivery of a webhook was given up",
        );
      }
      last = claim.last;
      return claim.claimed.length > 0 || claim.givenUp.length > 0 || last !== null;
    } finally {
      for (const turn of unused) shares.end(turn);
    }
  };
  const poller = startPoller(take, (error) =>
    log.error({ err: error }, "deliveries of webhooks could not be read"),
  );
  service.whenWoken(webhookStore, poller.wake);
  poller.wake();
  return poller;
}

/** Calls the webhook, if its owner may hear the event, and notes what became of it. */
async function settled(
  delivering: Delivering,
  claimed: ClaimedDelivery,
  { stopping }: Pick<Poller, "stopping">,
): Promise<void> {
  const { service } = delivering;
  const { clock, database } = service;
  const attempt = await attempted(delivering, claimed, stopping);
  const { status, error } = attempt;
  const note = (work: (store: Stored) => Promise<void>): Promise<void> =>
    database.write({ lifetime: Lifetime.within(storeMillis) }, (stores) =>
      work(stores.of(webhookStore)),
    );
  if (error !== null && status === null && stopping.aborted) {
    // The attempt was ours to end, so it doesn't count: another process makes it.
    await note((store) => store.release(claimed.id, clock.now()));
    return;
  }
  const outcome = outcomeOf(delivering.settings, claimed.attempt, clock.now(), attempt);
  if (error === null) tally(service, "webhooks_delivered");
  else noteFailure(service, claimed, attempt, outcome.dueAt === null);
  await note((store) => store.settle(claimed.id, outcome));
}

/** A failed attempt is a line of the log and a count of the metrics. */
function noteFailure(
  service: ServiceAtWork,
  { id, attempt, event, webhook }: ClaimedDelivery,
  { error, isRefused }: Attempt,
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
    reason: error,
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
interface Attempt {
  readonly status: number | null;
  /** Why it failed; null if it did not. */
  readonly error: string | null;
  /** Whether its owner may not hear the event: then it is over. */
  readonly isRefused: boolean;
}

async function attempted(
  { spec, service, settings }: Delivering,
  { event, webhook, hasStanding }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const context = service.context(
      "webhooks.deliver",
      webhook.tenant,
      Lifetime.within(storeMillis),
    );
    const refusal = hasStanding
      ? await refusalOf(spec, context, webhook.principalId, event.name)
      : "its owner is inactive or no longer a member";
    if (refusal !== null) return { status: null, error: refusal, isRefused: true };
    const isOpen = isCallable(webhook.url, settings.reach);
    if (!isOpen) throw new Error("the address is not public");
    const kept = service.sealer.open(event.payload, event.id);
    const data: unknown = JSON.parse(service.kept.events(event.name).told(kept, event.shape));
    const createdAt = new Date(event.createdAt).toISOString();
    const message = { id: event.id, name: event.name, tenant: event.tenant, createdAt, data };
    const signed = signedMessage(message, [secretOf(service.sealer, webhook)]);
    const lookup = settings.reach === "public" ? { lookup: lookupPublic } : {};
    const status = await post({ url: webhook.url, ...signed, ...lookup, signal });
    const isTaken = status >= 200 && status <= 299;
    return { status, error: isTaken ? null : `the webhook answered ${status}`, isRefused: false };
  } catch (fault) {
    const error = missingAwait(fault) ?? messageOf(fault).slice(0, 200);
    return { status: null, error, isRefused: false };
  }
}

function outcomeOf(
  { maxAttempts, backoffMillis }: WebhookSettings,
  attempt: number,
  at: number,
  { status, error, isRefused }: Attempt,
): DeliveryOutcome {
  if (error === null) return { at, isDelivered: true, dueAt: null, status, error };
  const longest = Math.min(longestWaitMillis, backoffMillis * 2 ** (attempt - 1));
  // At least half of the bound, so that an absent webhook isn't called again at once.
  const dueAt = at + Math.round(longest * (0.5 + drawFraction() / 2));
  // 410 says that the webhook is gone for good.
  const isOver = isRefused || attempt >= maxAttempts || status === 410;
  return { at, isDelivered: false, dueAt: isOver ? null : dueAt, status, error };
}
