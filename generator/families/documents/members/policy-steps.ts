// What a policy asks where it is about a document, not about a request.
import type { PolicyStepModel } from "../../../model/document-model.js";
import type { HookUse } from "../../../model/registry.js";

/** The steps of a policy, as the model of a document keeps them. */
export function keptSteps(chain: readonly HookUse[]): readonly PolicyStepModel[] {
  return chain.map(({ id, permission, stored, run, errors }) => ({
    id,
    permission,
    ...(stored === undefined ? {} : { stored }),
    run,
    errors,
  }));
}
