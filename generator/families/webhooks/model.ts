// What the frozen registry says of webhooks.

export interface WebhooksModel {
  /** Names of integration events, sorted. */
  readonly events: readonly string[];
  /** Webhooks of a caller in a tenant. */
  readonly most: number;
}

declare module "../../model/registry.js" {
  interface FamilyModels {
    /** Left out where callers subscribe to nothing. */
    readonly webhooks?: WebhooksModel;
  }
}
