// The defaults in the inputs of authors' operations, which are filled in first, and then checked
// with the rest.
import type { DeclaredDefault, RuleContext } from "../../kernel/rule.js";
import { propertiesOf, referredType } from "../../model/json-schema.js";
import { own } from "../../model/records.js";

export function inputDefaults({ loaded, expanded }: RuleContext): readonly DeclaredDefault[] {
  const { types, operations } = expanded.model;
  return Object.values(operations).flatMap(({ key, input, declares }) => {
    if (declares !== "handler") return [];
    const type = referredType(input.schema);
    const body = type === undefined ? input.schema : (own(types, type) ?? true);
    const origin = type === undefined ? undefined : expanded.types.table.origins.get(type);
    return Object.entries(propertiesOf(body)).flatMap(([member, schema]) => {
      if (typeof schema === "boolean" || !("default" in schema)) return [];
      const at =
        origin === undefined
          ? loaded.tree.at("operations", key, "in", member, "default")
          : { ...origin, path: [...origin.path, member, "default"] };
      return [{ member, schema, value: schema["default"], at }];
    });
  });
}
