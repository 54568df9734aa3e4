// A webhook as it is told.
import { presentName } from "../../contract/former-names.js";
import type { Webhook } from "../../ports/webhooks.js";
import type { WebhooksSpec } from "./spec.js";

/** A webhook without its secret. */
export interface WebhookEntry {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly created_at: string;
}

/** Tells of a webhook under the present names of its events. */
export function webhookEntry(
  { was }: WebhooksSpec,
  { id, url, events: stored, createdAt }: Webhook,
): WebhookEntry {
  const events = stored.map((event) => presentName(was, event));
  return { id, url, events, created_at: new Date(createdAt).toISOString() };
}
