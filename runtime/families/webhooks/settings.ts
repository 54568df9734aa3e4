// The settings of webhooks: which addresses they may have, and how often delivery is tried.
import type { SettingsSource } from "../../operations/family.js";
import type { Reach } from "./address.js";
import type { WebhooksSpec } from "./spec.js";

export interface WebhookSettings {
  readonly reach: Reach;
  /** After so many attempts a delivery is given up. */
  readonly maxAttempts: number;
  /** The first wait is random up to this, and doubles. */
  readonly backoffMillis: number;
}

export function readWebhookSettings(
  _spec: WebhooksSpec | undefined,
  { environment }: SettingsSource,
): WebhookSettings {
  return {
    reach:
      environment.oneOf("WEBHOOK_ADDRESSES", "public", ["public", "any"]) === "any"
        ? "any"
        : "public",
    maxAttempts: environment.integer("WEBHOOK_MAX_ATTEMPTS", 10, 1, 100),
    backoffMillis: environment.number("WEBHOOK_BACKOFF_SECONDS", 5, 0.01, 3_600) * 1_000,
  };
}
