// Delivers events to the webhooks that subscribed to them, at least once each, up to a number of attempts. A slow webhook uses
// a limited share of the deliverer.
import type { ServiceAtWork, Started } from "../../operations/family.js";
import { startPoller } from "../../operations/poller.js";
import { signedMessage } from "../../operations/standard-webhook.js";
import { Lifetime } from "../../ports/lifetime.js";
import { webhookStore, type ClaimedDelivery, type DeliveryOutcome } from "../../ports/webhooks.js";
import { call } from "./call.js";
import { secretOf } from "./secret.js";
import type { WebhookSettings } from "./settings.js";

/** Calls under way in a process, and of one webhook. */
const most = { calls: 32, ofOne: 2 };
/** Milliseconds for recording the outcome in the database. */
const storeMillis = 10_000;
/** How long this process holds a claimed delivery; its call takes less. */
const leaseMillis = 30_000;
const longestWaitMillis = 60 * 60_000;

/** Starts to deliver. Several processes may do so on one database; each delivery is held by one at a time. */
export function startDeliverer(service: ServiceAtWork, settings: WebhookSettings): Started {
  const { clock, database, log } = service;
  const calling = new Map<string, number>();
  let turn: string | null = null;

  const begin = (claimed: ClaimedDelivery): void => {
    const { id } = claimed.webhook;
    calling.set(id, (calling.get(id) ?? 0) + 1);
    const work = settled(service, settings, claimed)
      .catch((error: unknown) => log.error({ err: error }, "a delivery could not be noted"))
      .then(() => {
        const left = (calling.get(id) ?? 1) - 1;
        if (left === 0) calling.delete(id);
        else calling.set(id, left);
      });
    poller.track(work);
  };
  const take = async (): Promise<boolean> => {
    const now = clock.now();
    const limit = most.calls - poller.underWay;
    if (limit === 0 || !(await database.reader.of(webhookStore).hasDue(now))) return false;
    const { claimed, last } = await database.write(
      { lifetime: Lifetime.within(storeMillis) },
      (stores) =>
        stores.of(webhookStore).claim({
          now,
          limit,
          leaseUntil: now + leaseMillis,
          after: turn,
          shareOf: (id) => most.ofOne - (calling.get(id) ?? 0),
        }),
    );
    claimed.forEach(begin);
    turn = last;
    return claimed.length > 0 || last !== null;
  };
  const poller = startPoller(take, (error) =>
    log.error({ err: error }, "deliveries of webhooks could not be read"),
  );
  service.whenWoken(webhookStore, poller.wake);
  poller.wake();
  return poller;
}

/** Calls the webhook and notes what became of it. */
async function settled(
  { clock, database, sealer }: ServiceAtWork,
  settings: WebhookSettings,
  claimed: ClaimedDelivery,
): Promise<void> {
  const { event, webhook } = claimed;
  let status: number | null = null;
  let error: string | null = null;
  try {
    const data: unknown = JSON.parse(sealer.open(event.payload, event.id));
    const createdAt = new Date(event.createdAt).toISOString();
    const message = { id: event.id, name: event.name, tenant: event.tenant, createdAt, data };
    const { headers, body } = signedMessage(message, [secretOf(sealer, webhook)]);
    status = await call(webhook.url, headers, body, settings.reach);
    if (status < 200 || status > 299) error = `the webhook answered ${status}`;
  } catch (fault) {
    error = (fault instanceof Error ? fault.message : String(fault)).slice(0, 200);
  }
  const outcome = outcomeOf(settings, { attempt: claimed.attempt, at: clock.now() }, status, error);
  await database.write({ lifetime: Lifetime.within(storeMillis) }, (stores) =>
    stores.of(webhookStore).settle(claimed.id, outcome),
  );
}

function outcomeOf(
  { maxAttempts, backoffMillis }: WebhookSettings,
  { attempt, at }: { readonly attempt: number; readonly at: number },
  status: number | null,
  error: string | null,
): DeliveryOutcome {
  if (error === null) return { at, isDelivered: true, dueAt: null, status, error };
  const longest = Math.min(longestWaitMillis, backoffMillis * 2 ** (attempt - 1));
  // At least half of the bound, so that an absent webhook isn't called again at once.
  const dueAt = at + Math.round(longest * (0.5 + Math.random() / 2));
  // 410 says that the webhook is gone for good.
  const isOver = attempt >= maxAttempts || status === 410;
  return { at, isDelivered: false, dueAt: isOver ? null : dueAt, status, error };
}
