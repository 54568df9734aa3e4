// `personal:` of a document: what tells of its owner, and what becomes of it once that one is
// erased.
import type { DeclaredDefault, RuleContext } from "../../../kernel/rule.js";
import type { FamilyContext } from "../../../kernel/family.js";
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import { propertiesOf, type JsonSchema } from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import type { DocumentModel } from "../../../model/document-model.js";
import { mapMember } from "../../../print/layout.js";
import { conditionalSchemas } from "./conditions.js";
import { writtenSchema } from "../../../kernel/written-later.js";
import type { DocumentDeclaration, OverlapDeclaration } from "../format.js";

/**
 * What the personal fields become. Reports fields that are not there, and those that keep
 * documents apart (OPW110).
 */
export function personalFields(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  bodySchema: JsonSchema,
): Readonly<Record<string, unknown>> {
  const { personal } = declaration;
  if (personal === undefined) return {};
  const { tree, report } = context;
  const given: readonly (readonly [string, unknown, string | number])[] = Array.isArray(personal)
    ? (personal as readonly string[]).map((field, index) => [field, null, index] as const)
    : Object.entries(personal).map(([field, value]) => [field, value, field] as const);
  const fields = Object.keys(propertiesOf(bodySchema));
  for (const [field, value, key] of given) {
    const at = tree.at("documents", name, "personal", key);
    const refuse = (message: string): void => report({ code: "OPW110", message, at });
    if (!fields.includes(field)) {
      const message = `${name} has no field ${field}`;
      report({ code: "OPW110", message, at, suggestion: didYouMean(field, fields) });
    } else if (value !== null && uniqueFields(declaration).includes(field))
      refuse(`${field} is unique, so that two who are erased could not both have this value`);
    else if (tellingFields(declaration).includes(field))
      refuse(`${field} says which documents are unique, so that two who are erased could clash`);
    else if (rangeFields(declaration).includes(field))
      refuse(`${field} says which ranges overlap, so that two who are erased could clash`);
  }
  return Object.fromEntries(given.map(([field, value]) => [field, value]));
}

function uniqueFields({ unique = [], key }: DocumentDeclaration): readonly string[] {
  const named = unique.flatMap((rule) => ("fields" in rule ? rule.fields : rule));
  return [...named, ...(key === undefined ? [] : [key])].map(
    (path) => path.split(".", 1)[0] ?? path,
  );
}

/** Fields by whose values unique rules tell documents. */
function tellingFields({ unique = [] }: DocumentDeclaration): readonly string[] {
  return unique.flatMap((rule) =>
    "fields" in rule && typeof rule.where === "object" ? Object.keys(rule.where) : [],
  );
}

/** Fields of ranges that may not overlap. */
function rangeFields({ no_overlap: declared = [] }: DocumentDeclaration): readonly string[] {
  const rules = [declared].flat() as readonly OverlapDeclaration[];
  return rules.flatMap(({ per = [], range, where = {} }) => [
    ...per,
    ...range,
    ...Object.keys(where),
  ]);
}

/** Its values, to be checked as defaults are. */
export function personalValues({ loaded, expanded }: RuleContext): readonly DeclaredDefault[] {
  const { tree, declarations } = loaded;
  return Object.values(expanded.model.documents).flatMap(({ name, personal, bodySchema }) => {
    const isList = Array.isArray(declarations.documents[name]?.personal);
    const fields = propertiesOf(bodySchema);
    return Object.entries(personal).flatMap(([member, value], index) => {
      const schema = own(fields, member);
      if (schema === undefined) return [];
      const at = tree.at("documents", name, "personal", isList ? index : member);
      // Whatever else a document says, it must be possible to write it again.
      const schemas = [schema, ...conditionalSchemas(bodySchema, member)];
      return schemas.map((one) => {
        const written = writtenSchema(one, (type) => expanded.types.table.schemas.get(type));
        return { what: "erased value", member, schema: written, value, at };
      });
    });
  });
}

/** The member of a spec. */
export function personalMember({ personal }: DocumentModel): readonly string[] {
  return Object.keys(personal).length === 0 ? [] : [mapMember("  ", "personal", personal)];
}
