// The family of webhooks: callers subscribe to integration events.
import { eraseSealed } from "../../operations/erase-sealed.js";
import { firstName, storedNames } from "../../contract/former-names.js";
import { askedOnce, familyOf, hourly, type ServiceAtWork } from "../../operations/family.js";
import { readPiece } from "../../operations/read-piece.js";
import { gauge, type DeclaredMetrics } from "../../operations/metric.js";
import { tallies } from "../../operations/tally.js";
import { webhookStore } from "../../ports/webhooks.js";
import { startDeliverer } from "./deliver.js";
import { webhookEntry } from "./entry.js";
import { findHearers } from "./rights.js";
import { renewSecrets } from "./secret.js";
import { readWebhookSettings } from "./settings.js";
import type { WebhooksSpec } from "./spec.js";

/** Deliveries can be looked at, and done again, for a week. */
const keptFor = 7 * 24 * 60 * 60 * 1_000;
/** Rows of a table that one batch removes. */
const batchSize = 1_000;

export const webhooksFamily = familyOf<WebhooksSpec>()({
  member: "webhooks",
  settings: readWebhookSettings,
  jobs: (_spec, { clock, sealer }) => [
    hourly("webhooks.old", (transaction) =>
      transaction.of(webhookStore).prune(clock.now() - keptFor, batchSize),
    ),
    ...renewSecrets(sealer),
  ],
  metrics: (_spec, service) => metricsOf(service),
  async staged(spec, context, event) {
    if (!Object.hasOwn(spec.events, event.name)) return;
    const store = context.transaction.of(webhookStore);
    const subscribers = await store.subscribers(event.tenant, storedNames(spec.was, [event.name]));
    const told = await findHearers(spec, context, subscribers, event.name);
    const stored = { ...event, name: firstName(spec.was, event.name) };
    const deliveries = await store.stage(stored, ...told);
    if (deliveries.length > 0) context.follow(() => context.resources.wake(webhookStore));
  },
  // As its permissions and keys do: who comes back begins anew.
  departed: (_spec, context, who) => context.transaction.of(webhookStore).removeOf(who),
  erased: async (_spec, context, who) => ({
    webhook_events: await eraseSealed(
      context,
      who,
      (transaction, after, limit) => transaction.of(webhookStore).walkEnded(after, limit),
      (transaction, ids) => transaction.of(webhookStore).removeEvents(ids),
    ),
  }),
  async *exported(spec, context, { places, principalId }) {
    for (const tenant of places)
      for (const webhook of await readPiece(context).of(webhookStore).list({ tenant, principalId }))
        yield { kind: "webhook", tenant_id: tenant, data: webhookEntry(spec, webhook) };
  },
  start: (spec, service, settings) => startDeliverer(spec, service, settings),
});

/** What waits, and what this process has counted. */
function metricsOf(service: ServiceAtWork): DeclaredMetrics {
  const { clock, database } = service;
  const state = askedOnce(() => database.reader.of(webhookStore).state(clock.now()));
  return {
    webhooks_pending: gauge("Deliveries that wait.", async () => (await state()).pending),
    webhooks_lag_seconds: gauge(
      "How long the most overdue delivery has waited.",
      async () => (await state()).lagMillis / 1000,
    ),
    ...tallies(service, {
      webhooks_delivered: "Deliveries that a receiver has accepted.",
      webhooks_failed: "Attempts to deliver that failed.",
      webhooks_given_up: "Deliveries given up after their last attempt.",
      webhooks_refused: "Deliveries whose owner may not hear the event any more.",
    }),
  };
}
