// The rule that no type of the registry is called like one that the client declares for an
// operation.
import { referredType } from "../model/json-schema.js";
import { inputTypeOf, outputTypeName } from "../model/operation-types.js";
import type { RuleContext } from "../kernel/rule.js";

/**
 * Reports types that are called like the input or the output of an operation, where those are no
 * types of the registry.
 */
export function clientTypesAreFree({ expanded, report }: RuleContext): void {
  const { model, types } = expanded;
  const told = new Set<string>();
  for (const operation of Object.values(model.operations)) {
    const { input, output, route, declares } = operation;
    // The types of authors' operations are taken when they are read.
    if (route === null || declares === "handler") continue;
    const own = [
      ...(referredType(input.schema) === undefined ? [inputTypeOf(operation)] : []),
      ...(output.schema === null || referredType(output.schema) !== undefined
        ? []
        : [outputTypeName(operation)]),
    ];
    for (const name of own) {
      const at = types.table.origins.get(name);
      if (at === undefined || told.has(name)) continue;
      told.add(name);
      report({
        code: "OPW003",
        message: `the client of ${operation.key} needs the name ${name} for a type of its own`,
        at,
      });
    }
  }
}
