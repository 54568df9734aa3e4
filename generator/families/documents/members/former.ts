// What fields of a document were called before, and what they are in documents that were stored
// without them.
import { firstShape } from "../../../../runtime/contract/shapes.js";
import { storedName } from "../../../../runtime/contract/stored-members.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { DeclaredDefault, RuleContext } from "../../../kernel/rule.js";
import { mapRecord, own } from "../../../model/records.js";
import { storedMembers } from "../../../model/stored-tables.js";
import {
  conversionOf,
  formerName,
  formerValueOf,
  formerValues,
} from "../../../load/former-names.js";
import { documentMemberAt } from "../../../load/member-places.js";
import { resolveSchema, type Resolve } from "../../../kernel/resolve.js";
import {
  propertiesOf,
  withoutNull,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { nestedMembers } from "./fields.js";
import type { DocumentModel, FormerNames } from "../../../model/document-model.js";
import { canonicalBody } from "../../../../runtime/contract/canonical-values.js";
import type { DocumentDeclaration } from "../format.js";

/** Fields that were called otherwise, or have values that were. */
function formerNames(
  properties: Readonly<Record<string, JsonSchema>>,
  resolve: Resolve,
): Readonly<Record<string, FormerNames>> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([field, schema]) => {
      const name = formerName(schema) ?? null;
      const values = formerValues(resolveSchema(withoutNull(schema), resolve));
      const by = conversionOf(schema) ?? null;
      const isAsEver = name === null && by === null && Object.keys(values).length === 0;
      return isAsEver ? [] : [[field, { name, by, values }]];
    }),
  );
}

/** What fields are in documents that were stored without them, where their types say so. */
function formerMembers(
  properties: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([field, schema]) => {
      const former = formerValueOf(schema);
      return Object.hasOwn(former, "is") ? [[field, former.is]] : [];
    }),
  );
}

/** Former values must fit their fields, as defaults must. */
export function formerDefaults({ loaded, expanded }: RuleContext): readonly DeclaredDefault[] {
  return Object.values(expanded.model.documents).flatMap(({ name, formerly, bodySchema }) =>
    Object.entries(formerly).flatMap(([member, value]): readonly DeclaredDefault[] => {
      const schema = own(propertiesOf(bodySchema), member);
      const at = documentMemberAt(loaded.tree, name, member);
      return schema === undefined ? [] : [{ what: "former value", member, schema, value, at }];
    }),
  );
}

/**
 * Warns of a former value that no row ever takes: all have had the field since their table was
 * made.
 */
export function formerValuesAreTaken({ loaded, expanded, database, report }: RuleContext): void {
  for (const { name, table, formerly } of Object.values(expanded.model.documents)) {
    const before = own(database.tables, table);
    if (before === undefined) continue;
    const { shape = firstShape } = before;
    for (const field of Object.keys(formerly)) {
      const stored = storedName(shape, field);
      const isAdded = shape.steps.some(({ adds }) => Object.hasOwn(adds, stored));
      if (isAdded || !storedMembers(before).has(stored)) continue;
      report({
        code: "OPW093",
        message: `every row of ${name} has ${field}, so none takes its former value`,
        at: documentMemberAt(loaded.tree, name, field),
      });
    }
  }
}

/**
 * Rows are known by their members; what stands within these is stored as it is, so it cannot be
 * renamed.
 */
export function refuseNested(
  { tree, report }: FamilyContext,
  document: string,
  body: SchemaObject,
  resolve: Resolve,
): void {
  for (const { path, schema } of nestedMembers(body, resolve)) {
    const isRenamed =
      formerName(schema) !== undefined ||
      conversionOf(schema) !== undefined ||
      Object.keys(formerValues(schema)).length > 0;
    if (Object.hasOwn(formerValueOf(schema), "is"))
      report({
        code: "OPW039",
        message: `${document}.${path} cannot have a former value: only members of the document itself can`,
        at: documentMemberAt(tree, document, path),
      });
    if (!isRenamed) continue;
    report({
      code: "OPW039",
      message: `${document}.${path} cannot be renamed: only members of the document itself can`,
      at: documentMemberAt(tree, document, path),
    });
  }
}

/** What documents were called and had before, as versions before still read and write it. */
export function pastOf(
  { dropped = {} }: DocumentDeclaration,
  properties: Readonly<Record<string, JsonSchema>>,
  canonical: DocumentModel["canonical"],
  resolve: Resolve,
): Pick<DocumentModel, "former" | "formerly" | "dropped"> {
  return {
    former: formerNames(properties, resolve),
    formerly: canonicalBody(formerMembers(properties), canonical),
    dropped: mapRecord(dropped, ({ as }) => as),
  };
}
