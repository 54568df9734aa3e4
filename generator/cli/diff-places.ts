// Where in the registry a change was made.
import type { JudgedCause } from "../diff/report.js";
import { typesOf } from "../diff/derived-types.js";
import type { Origin } from "../diagnostics/diagnostics.js";
import type { CheckedRegistry } from "../pipeline/generate.js";
import { documentMemberAt } from "../load/member-places.js";
import type { RegistryModel } from "../model/registry.js";

/** The place of a cause's subject, or of its field, or the file that used to have it. */
export function originOf(
  { subject, field }: Pick<JudgedCause, "subject" | "field">,
  { expanded, loaded }: CheckedRegistry,
  before: RegistryModel,
): Origin {
  const { tree } = loaded;
  const inside = field?.split(".") ?? [];
  const { documents } = expanded.model;
  if (subject.declared !== undefined) return tree.keyAt(...subject.declared);
  switch (subject.kind) {
    case "operation": {
      const source = before.operations[subject.name]?.source;
      const gone = source === undefined ? tree.keyAt("service") : { file: source, path: [] };
      return expanded.origins.get(subject.name) ?? gone;
    }
    case "hook":
      return tree.keyAt("policies", ...policyWith(subject.name, tree.section("policies")));
    case "type": {
      const { name } = subject;
      if (name in tree.section("types")) return tree.keyAt("types", name, ...inside);
      const owner = Object.values(documents).find((document) => typesOf(document).includes(name));
      if (owner === undefined) return tree.keyAt("types", name);
      if (owner.typeName in tree.section("types"))
        return tree.keyAt("types", owner.typeName, ...inside);
      return documentMemberAt(tree, owner.name, field ?? "");
    }
    default:
      return tree.keyAt("service", "version");
  }
}

/** The one policy that names a hook, such as `rate_limit 5/1m before`; none where several do. */
function policyWith(hook: string, policies: Readonly<Record<string, unknown>>): readonly string[] {
  const words = hook
    .split(" ")
    .slice(0, -1)
    .filter((word) => !["before", "tx"].includes(word));
  const naming = Object.entries(policies).filter(([, steps]) => {
    const text = JSON.stringify(steps);
    return words.every((word) => text.includes(word));
  });
  return naming.length === 1 ? naming.map(([name]) => name) : [];
}
