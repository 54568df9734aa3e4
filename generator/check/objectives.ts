// The rule that objectives name operations that there are.
import { checkOperationName } from "../kernel/guard-by-operation.js";
import type { RuleContext } from "../kernel/rule.js";

/** Reports operations of `service.slo.slow` that no namespace has (OPW062). */
export function objectivesNameOperations({ expanded, loaded, report }: RuleContext): void {
  const { slo } = expanded.model.service;
  const declared = loaded.declarations.service?.slo?.slow ?? [];
  if (slo === null || declared.length === 0) return;
  const names = new Map<string, string[]>();
  for (const key of Object.keys(expanded.model.operations)) {
    const [namespace = "", name = ""] = key.split(".");
    names.set(namespace, [...(names.get(namespace) ?? []), name]);
  }
  declared.forEach((key, index) => {
    const [namespace = "", name = ""] = key.split(".");
    const at = loaded.tree.at("service", "slo", "slow", index);
    const known = names.get(namespace);
    if (known === undefined)
      report({ code: "OPW062", message: `there is no namespace ${namespace}`, at });
    else checkOperationName({ report }, namespace, name, { names: known, groups: ["*"], at });
  });
}
