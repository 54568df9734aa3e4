// The family of webhooks: callers subscribe to integration events.
import {
  askedOnce,
  familyOf,
  hourly,
  type Gauges,
  type ServiceAtWork,
} from "../../operations/family.js";
import { tallies } from "../../operations/tally.js";
import { webhookStore } from "../../ports/webhooks.js";
import { startDeliverer } from "./deliver.js";
import { hearing } from "./rights.js";
import { readWebhookSettings } from "./settings.js";
import type { WebhooksSpec } from "./spec.js";

/** Deliveries can be looked at, and done again, for a week. */
const keptFor = 7 * 24 * 60 * 60 * 1_000;
/** Rows of a table that one batch removes. */
const batchSize = 1_000;

export const webhooksFamily = familyOf<WebhooksSpec>()({
  member: "webhooks",
  settings: readWebhookSettings,
  jobs: (_spec, { clock }) => [
    hourly("webhooks.old", (transaction) =>
      transaction.of(webhookStore).prune(clock.now() - keptFor, batchSize),
    ),
  ],
  gauges: (_spec, service) => gaugesOf(service),
  async staged(spec, context, event) {
    if (!Object.hasOwn(spec.events, event.name)) return;
    const store = context.transaction.of(webhookStore);
    const subscribers = await store.subscribers(event.tenant, event.name);
    const told = await hearing(spec, context, subscribers, event.name);
    const deliveries = await store.stage(event, ...told);
    if (deliveries.length > 0) context.follow(() => context.resources.wake(webhookStore));
  },
  start: (spec, service, settings) => startDeliverer(spec, service, settings),
});

/** What waits, and what this process has counted. */
function gaugesOf(service: ServiceAtWork): Gauges {
  const { clock, database } = service;
  const state = askedOnce(() => database.reader.of(webhookStore).state(clock.now()));
  return {
    webhooks_pending: async () => (await state()).pending,
    webhooks_lag_seconds: async () => (await state()).lagMillis / 1000,
    ...tallies(service, [
      "webhooks_delivered_total",
      "webhooks_failed_total",
      "webhooks_given_up_total",
      "webhooks_refused_total",
    ]),
  };
}
