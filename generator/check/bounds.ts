// The rule that anonymous callers can't query growing documents without a limit.
import { isLimited, policiesOf } from "../kernel/guards.js";
import { builtInHook } from "../kernel/runtime-hooks.js";
import type { Declarations } from "../load/declarations.js";
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";
import type { RuleContext } from "../kernel/rule.js";

/**
 * Warns of lists, aggregates and searches that anybody may ask for, as often as they like, of
 * documents that grow.
 */
export function openListsAreLimited({ expanded, loaded, report }: RuleContext): void {
  const { model, origins } = expanded;
  const told = new Set<string>();
  const growing = growingIn(model);
  for (const operation of Object.values(model.operations)) {
    const document = operation.lists;
    if (document === null || told.has(operation.namespace)) continue;
    if (!policiesOf(operation).every((policy) => isWhole(policy, loaded.declarations))) continue;
    if (operation.route === null || isLimited(operation.hooks) || !growing.has(document)) continue;
    told.add(operation.namespace);
    report({
      code: "OPW059",
      message: `anybody may ask for ${operation.key} without limit, and ${document} may grow`,
      at: origins.get(operation.key) ?? { file: "", path: [] },
    });
  }
}

/** Whether all steps of a policy are known: what is missing may be what limits. */
function isWhole(policy: string, declarations: Declarations): boolean {
  return (
    own(declarations.policies, policy)?.every(
      (step) =>
        typeof step !== "string" ||
        step.includes("#") ||
        Object.hasOwn(declarations.hooks, step) ||
        builtInHook(step, declarations)?.lacks === undefined,
    ) === true
  );
}

/** The documents that callers add to. Code of the service may as well, but knows how much. */
function growingIn({ operations }: RegistryModel): ReadonlySet<string> {
  return new Set(
    Object.values(operations).flatMap(({ adds, route }) =>
      adds === null || route === null ? [] : [adds],
    ),
  );
}
