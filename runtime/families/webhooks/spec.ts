// The spec of webhooks: to what callers may subscribe, printed by the generator.

export interface WebhooksSpec {
  /** Names of integration events. */
  readonly events: readonly string[];
  /** Webhooks of a caller in a tenant. */
  readonly most: number;
}

/** Declares that callers may subscribe to integration events. */
export function subscribing(spec: WebhooksSpec): WebhooksSpec {
  return spec;
}
