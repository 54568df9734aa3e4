// The spec of webhooks: to what callers may subscribe and who may, printed by the generator.
import type { FirstNames } from "../../contract/former-names.js";
import type { PhaseHook } from "../../operations/hooks.js";

/** A step of a policy that may refuse. */
type Asked = PhaseHook<"before", unknown, never>;

/** What is sent to try a webhook. */
export const testEvent = "webhook.test";

export interface WebhooksSpec {
  /** Integration events by name, with what their guard asks beside `guard`. */
  readonly events: Readonly<Record<string, readonly Asked[]>>;
  /** What events were called first: subscriptions and deliveries are stored under these names. */
  readonly was?: FirstNames;
  /** What the policy of webhooks asks of their owners. */
  readonly guard: readonly Asked[];
  /** Whether owners belong to tenants. */
  readonly hasTenancy: boolean;
  /** Webhooks of a caller in a tenant. */
  readonly most: number;
}

/** Declares that callers may subscribe to integration events. */
export function defineWebhooks(spec: WebhooksSpec): WebhooksSpec {
  return spec;
}
