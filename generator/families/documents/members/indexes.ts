// `indexes:` and `unique:` of a document: over which fields, by which names.
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { indexableColumns, type Fields } from "../../../../runtime/contract/fields.js";
import { derivedSqlName } from "../../../../runtime/contract/sql-names.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { DocumentDeclaration } from "../format.js";
import { checkField } from "./check-field.js";
import { storedValues } from "./some-values.js";
import type { DocumentModel, IndexModel, UniqueModel } from "../../../model/document-model.js";

/** Reports fields that are not there, or that have no order. */
export function declaredIndexes(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  fields: Fields,
): readonly IndexModel[] {
  return (declaration.indexes ?? []).map((names, position): IndexModel => {
    const path = ["documents", name, "indexes", position];
    for (const [at, field] of names.entries()) checkIndexed(context, fields, field, [...path, at]);
    checkCount(context, names, path);
    return { name: indexNameOver(name, names), fields: names };
  });
}

/**
 * Reports as `declaredIndexes` does, and what cannot hold: deleted documents where none are
 * deleted, tenants where there are none.
 */
export function uniqueOf(
  context: FamilyContext,
  name: string,
  declaration: DocumentDeclaration,
  { fields, canonical, softDelete }: Pick<DocumentModel, "fields" | "canonical" | "softDelete">,
): readonly UniqueModel[] {
  return (declaration.unique ?? []).map((given, position): UniqueModel => {
    const path = ["documents", name, "unique", position];
    const rule = isList(given) ? { fields: given } : given;
    for (const [at, field] of rule.fields.entries())
      checkIndexed(context, fields, field, [...path, ...(isList(given) ? [] : ["fields"]), at]);
    checkCount(context, rule.fields, path);
    const { isLiveOnly, where } = conditionOf(context, rule, { fields, canonical }, path);
    if (isLiveOnly && !softDelete)
      context.report({
        code: "OPW034",
        message: `documents of ${name} are never marked as deleted, so \`where: not_deleted\` says nothing`,
        at: context.tree.at(...path),
      });
    return {
      name: derivedSqlName(`${name}_unique_${joinFieldNames(rule.fields)}${suffixOf(where)}`),
      fields: rule.fields,
      isGlobal: rule.global === true || declaration.tenant === false,
      isLiveOnly,
      ...(Object.keys(where).length === 0 ? {} : { where }),
    };
  });
}

/**
 * The indexes, with those that the service needs itself: who names a document is looked for when
 * that goes, and ranges that overlap when one is written.
 */
export function withNeeded(
  name: string,
  indexes: readonly IndexModel[],
  needed: readonly (readonly string[])[],
): readonly IndexModel[] {
  const all = [...indexes];
  for (const fields of needed)
    if (!all.some((index) => fields.every((field, at) => index.fields[at] === field)))
      all.push({ name: indexNameOver(name, fields), fields });
  return all;
}

/** What tells the index of a rule about some documents from that about others. */
function suffixOf(where: NonNullable<UniqueModel["where"]>): string {
  if (Object.keys(where).length === 0) return "";
  const digest = createHash("sha256").update(JSON.stringify(where)).digest("hex");
  return `_where_${digest.slice(0, 8)}`;
}

/** Which documents a rule is about. Reports fields that are not there (OPW030). */
function conditionOf(
  context: FamilyContext,
  { where: declared }: Rule,
  { fields, canonical }: Pick<DocumentModel, "fields" | "canonical">,
  path: readonly (string | number)[],
): { readonly isLiveOnly: boolean; readonly where: NonNullable<UniqueModel["where"]> } {
  if (declared === undefined) return { isLiveOnly: false, where: {} };
  if (typeof declared === "string") return { isLiveOnly: true, where: {} };
  const { is_deleted: deleted, ...where } = declared;
  if (deleted !== undefined && !isDeepStrictEqual(deleted, [false]))
    context.report({
      code: "OPW034",
      message: "a rule can leave out deleted documents: `is_deleted: [false]`",
      at: context.tree.at(...path, "where", "is_deleted"),
    });
  for (const [field, values] of Object.entries(where))
    if (values.some((value) => typeof value === "string" && /\p{Cc}/u.test(value)))
      context.report({
        code: "OPW034",
        message: "a value of `where` has no line breaks or other control characters",
        at: context.tree.at(...path, "where", field),
      });
  const stored = storedValues(context, { fields, canonical }, where, path);
  return { isLiveOnly: deleted !== undefined, where: stored };
}

type Rule = Exclude<NonNullable<DocumentDeclaration["unique"]>[number], readonly string[]>;

function isList(given: Rule | readonly string[]): given is readonly string[] {
  return Array.isArray(given);
}

function indexNameOver(document: string, fields: readonly string[]): string {
  return derivedSqlName(`${document}_by_${joinFieldNames(fields)}`);
}

function joinFieldNames(fields: readonly string[]): string {
  return fields.join("_").replaceAll(".", "_");
}

/** PostgreSQL has indexes of 32 columns; two are the tenant and the id. */
const maxIndexedFields = 30;

/** Reports more fields than an index can have. */
export function checkCount(
  { tree, report }: FamilyContext,
  fields: readonly string[],
  path: readonly (string | number)[],
): void {
  if (fields.length <= maxIndexedFields) return;
  const message = `an index has at most ${maxIndexedFields} fields, not ${fields.length}`;
  report({ code: "OPW034", message, at: tree.at(...path) });
}

function checkIndexed(
  context: FamilyContext,
  fields: Fields,
  field: string,
  path: readonly (string | number)[],
): void {
  checkField(context, { ...indexableColumns, ...fields }, field, path, " to index");
}
