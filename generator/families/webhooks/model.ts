// Webhooks in the frozen registry.

export interface WebhooksModel {
  /** Names of integration events, sorted. */
  readonly events: readonly string[];
  /** How many webhooks a caller may have in a tenant. */
  readonly most: number;
}

declare module "../../model/registry.js" {
  interface FamilyModels {
    /** Absent if the registry declares no `webhooks:`. */
    readonly webhooks?: WebhooksModel;
  }
}
