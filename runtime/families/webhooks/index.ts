// The family of webhooks: callers subscribe to integration events.
import { familyOf, hourly } from "../../operations/family.js";
import { webhookStore } from "../../ports/webhooks.js";
import { startDeliverer } from "./deliver.js";
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
  async staged({ events }, context, event) {
    if (!events.includes(event.name)) return;
    const deliveries = await context.transaction.of(webhookStore).stage(event);
    if (deliveries.length > 0) context.whenCommitted(() => context.resources.wake(webhookStore));
  },
  start: (_spec, service, settings) => startDeliverer(service, settings),
});
