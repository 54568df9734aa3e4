// The rule that anonymous callers can't query growing documents without a limit.
import type { OperationModel, RegistryModel } from "../model/registry.js";
import type { RuleContext } from "../kernel/rule.js";

/** Warns of lists, aggregates and searches that anybody may ask for, as often as they like, of documents that grow. */
export function openListsAreLimited({ expanded, report }: RuleContext): void {
  const { model, origins } = expanded;
  const told = new Set<string>();
  const growing = growingIn(model);
  for (const operation of Object.values(model.operations)) {
    const document = operation.lists;
    if (document === null || told.has(operation.namespace)) continue;
    if (operation.route === null || isLimited(operation) || !growing.has(document)) continue;
    told.add(operation.namespace);
    report({
      code: "OPW059",
      message: `anybody may ask for ${operation.key} without limit, and ${document} may grow`,
      at: origins.get(operation.key) ?? { file: "", path: [] },
    });
  }
}

/** Whether the chain requires a caller, or limits the rate. */
function isLimited({ requiresAuthn, hooks }: OperationModel): boolean {
  return requiresAuthn || hooks.some(({ errors }) => errors.includes("core.throttled"));
}

/** The documents that callers add to. Code of the service may as well, but knows how much. */
function growingIn({ operations }: RegistryModel): ReadonlySet<string> {
  return new Set(
    Object.values(operations).flatMap(({ adds, route }) =>
      adds === null || route === null ? [] : [adds],
    ),
  );
}
