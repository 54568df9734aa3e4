// Integration events in the frozen registry.
import type { FunctionReference } from "../../model/code.js";
import type { DeprecationModel } from "../../model/deprecation.js";
import type { ModelParts } from "../../model/model-parts.js";

/** An integration event: its payload and its destination. */
export interface OutboxEventModel {
  /** The type of its payload; null for an event of the runtime, which declares the type itself. */
  readonly typeName: string | null;
  /** What it was called first, if otherwise. */
  readonly was?: string;
  /** The name of a destination, or a function that delivers. */
  readonly destination: string | FunctionReference;
  /** The policy of those who may subscribe to it, where it declares one. */
  readonly guard: string | null;
  readonly deprecated: DeprecationModel | null;
}

/** Its parts of the model. */
export const models: ModelParts = { outbox: { empty: null }, mail: { empty: null } };

declare module "../../model/registry.js" {
  interface FamilyModels {
    /** Integration events by name; null if the registry declares no `outbox:`. */
    readonly outbox: Readonly<Record<string, OutboxEventModel>> | null;
    /** The function that renders mails from integration events, or null. */
    readonly mail: FunctionReference | null;
  }
}
