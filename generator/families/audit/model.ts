// The audit trail in the frozen registry.
import type { ModelParts } from "../../model/model-parts.js";

export interface AuditModel {
  /** How long entries are kept; null is for ever. */
  readonly keepSeconds: number | null;
  /** Documents and storages whose changes have no entries, sorted. */
  readonly except: readonly string[];
}

/** Its part of the model, absent where the registry declares none. */
export const models: ModelParts = {
  audit: { usually: { except: [] } satisfies Partial<AuditModel> },
};

declare module "../../model/registry.js" {
  interface FamilyModels {
    /** Absent if the registry declares no `audit:`. */
    readonly audit?: AuditModel;
  }
}
