// `where:` of rules of a document: fields, each with values of which it has one.
import { canonicalBody } from "../../../../runtime/contract/canonical-values.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { Resolve } from "../../../kernel/resolve.js";
import type { DeclaredDefault, RuleContext } from "../../../kernel/rule.js";
import type { DocumentModel } from "../../../model/document-model.js";
import { own } from "../../../model/records.js";
import { literal, propertyKey } from "../../../print/layout.js";
import { memberPaths } from "./fields.js";
import { checkField } from "./check-field.js";

/** Values by their fields. */
type SomeValues = Readonly<Record<string, readonly unknown[]>>;

/** The values as they are stored. Reports fields that are not there; `path` is that of the rule. */
export function storedValues(
  context: FamilyContext,
  { fields, canonical }: Pick<DocumentModel, "fields" | "canonical">,
  where: SomeValues,
  path: readonly (string | number)[],
): SomeValues {
  for (const field of Object.keys(where))
    checkField(context, fields, field, [...path, "where", field]);
  return Object.fromEntries(
    Object.entries(where).map(([field, values]) => [
      field,
      values.map((value) => canonicalBody({ [field]: value }, canonical)[field]),
    ]),
  );
}

/** Values of `where` must be ones that their fields can have: others would never be there. */
export function declaredValues({ loaded, expanded }: RuleContext): readonly DeclaredDefault[] {
  const { documents, types } = expanded.model;
  return Object.values(documents).flatMap(({ name, overlaps, reminders, unique, bodySchema }) => {
    const resolve: Resolve = (type) => own(types, type);
    const members = new Map(
      memberPaths(bodySchema, resolve).map(({ path, schema }) => [path, schema]),
    );
    const declaration = loaded.declarations.documents[name];
    const rules = { no_overlap: overlaps, remind: reminders, unique } as const;
    return (["no_overlap", "remind", "unique"] as const).flatMap((key) =>
      rules[key].flatMap(({ where = {} }, position) => {
        const at = [key, ...(Array.isArray(declaration?.[key]) ? [position] : []), "where"];
        return Object.entries(where).flatMap(([member, values]) => {
          const schema = members.get(member);
          return values.flatMap((value, index): readonly DeclaredDefault[] => {
            const origin = loaded.tree.at("documents", name, ...at, member, index);
            const what = "value of `where`";
            return schema === undefined ? [] : [{ what, member, schema, value, at: origin }];
          });
        });
      }),
    );
  });
}

/** Which documents a rule is about, in words; "" if it is about all. */
export function conditionText(where: SomeValues): string {
  return Object.entries(where)
    .map(([field, values]) => ` where ${field} is ${values.map(String).join(" or ")}`)
    .join(" and");
}

/** The member of a spec's rule; none if there are no values. */
export function whereText(where: SomeValues): readonly string[] {
  const members = Object.entries(where).map(
    ([field, values]) => `${propertyKey(field)}: [${values.map(literal).join(", ")}]`,
  );
  return members.length === 0 ? [] : [`where: { ${members.join(", ")} }`];
}
