// Errors of the author's own in the frozen registry.
import type { ErrorKind } from "../../../runtime/contract/errors.js";
import type { ModelParts } from "../../model/model-parts.js";

/** An error that the registry declares. */
export interface OwnErrorModel {
  readonly kind: ErrorKind;
  readonly detail: string;
  readonly retryable: boolean;
  /** The type of its context; null if it has none. */
  readonly contextType: string | null;
}

/** Its part of the model. */
export const models: ModelParts = { errors: { empty: {} } };

declare module "../../model/registry.js" {
  interface FamilyModels {
    /** Errors that the registry declares, by code. */
    readonly errors: Readonly<Record<string, OwnErrorModel>>;
  }
}
