// What the steps of a policy leave of documents, where it decides who reads them and not who calls.
import type { ExecutionContext } from "../../operations/context.js";
import { isForWhole } from "../../operations/hooks.js";
import { expectWhole } from "../../operations/identity.js";
import type { Reading } from "../../ports/document-spec.js";
import type { Filter } from "../../query/ast.js";

/** The filters of its scopes. Throws what a step refuses the caller with. */
export async function filtersLeft(
  steps: readonly Reading[],
  context: ExecutionContext,
): Promise<readonly Filter[]> {
  if (isForWhole(steps)) expectWhole(context);
  const filters: Filter[] = [];
  for (const step of steps) {
    // Hooks of the service take the context of every operation.
    if (step.visible === undefined) await step.run(undefined, context as never);
    else filters.push(await step.visible(context as never));
  }
  return filters;
}
