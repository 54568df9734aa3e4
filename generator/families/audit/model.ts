// The audit trail in the frozen registry.
import type { ModelParts } from "../../model/model-parts.js";

export interface AuditModel {
  /** How long entries are kept; null is for ever. */
  readonly keepSeconds: number | null;
}

/** Its part of the model, absent where the registry declares none. */
export const models: ModelParts = { audit: {} };

declare module "../../model/registry.js" {
  interface FamilyModels {
    /** Absent if the registry declares no `audit:`. */
    readonly audit?: AuditModel;
  }
}
