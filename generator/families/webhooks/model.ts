// Webhooks in the frozen registry.

import type { ModelParts } from "../../model/model-parts.js";
import type { HookUse } from "../../model/registry.js";

/** Who may hear an event, beside what all owners of webhooks are asked. */
export interface EventGuard {
  /** The policy: its own, that of the document that it tells of, or that of webhooks. */
  readonly policy: string;
  readonly hooks: readonly HookUse[];
}

export interface WebhooksModel {
  /** Names of integration events, sorted. */
  readonly events: readonly string[];
  /** What owners of webhooks are asked, whatever the event. */
  readonly asked: readonly HookUse[];
  /** Who may hear each event. */
  readonly guards: Readonly<Record<string, EventGuard>>;
  /** What events were called first, by their names; absent if none was called otherwise. */
  readonly was?: Readonly<Record<string, string>>;
  /** How many webhooks a caller may have in a tenant. */
  readonly most: number;
}

/** Its part of the model, absent where the registry declares none. */
export const models: ModelParts = { webhooks: {} };

declare module "../../model/registry.js" {
  interface FamilyModels {
    /** Absent if the registry declares no `webhooks:`. */
    readonly webhooks?: WebhooksModel;
  }
}
