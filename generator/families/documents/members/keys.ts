// `key:` of a document: a unique text by which callers may name it in place of its id, in paths and
// in references.
import { isDeepStrictEqual } from "node:util";
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import { idInPath } from "../../../kernel/built-in.js";
import type { FamilyContext } from "../../../kernel/family.js";
import { referenceOf } from "../../../load/document-references.js";
import type { Declarations } from "../../../load/declarations.js";
import type { DocumentModel, UniqueModel } from "../../../model/document-model.js";
import {
  propertiesOf,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import type { InputModel, ParameterModel } from "../../../model/registry.js";
import { derivedSqlName } from "../../../../runtime/contract/sql-names.js";
import type { DocumentDeclaration } from "../format.js";

/** The field of a document's key; null if it has none. Reports one that can't be a key (OPW114). */
export function keyOf(
  { tree, report }: FamilyContext,
  name: string,
  { key, visible = {} }: DocumentDeclaration,
  { fields, nullable, bodySchema }: Pick<DocumentModel, "fields" | "nullable" | "bodySchema">,
): string | null {
  if (key === undefined) return null;
  const refuse = (message: string, known: readonly string[] = []): null => {
    const at = tree.at("documents", name, "key");
    report({ code: "OPW114", message, at, suggestion: didYouMean(key, known) });
    return null;
  };
  const known = Object.keys(propertiesOf(bodySchema));
  if (!known.includes(key)) return refuse(`${name} has no field ${key}`, known);
  const isThere = requiredOf(bodySchema).includes(key) && !nullable.includes(key);
  if (!["string", "enum"].includes(own(fields, key) ?? "") || !isThere)
    return refuse(`${key} is not a text that every document has`);
  if (Object.hasOwn(visible, key))
    return refuse(`${key} is for some alone to see, and whoever names it would learn of it`);
  return key;
}

/** The unique rules, with that of the key. Reports one without deleted documents (OPW114). */
export function withKeyRule(
  { tree, report }: FamilyContext,
  name: string,
  { tenant = true }: DocumentDeclaration,
  key: string | null,
  unique: readonly UniqueModel[],
): readonly UniqueModel[] {
  if (key === null) return unique;
  const found = unique.find(
    ({ fields, where }) => where === undefined && isDeepStrictEqual(fields, [key]),
  );
  if (found?.isLiveOnly === true)
    report({
      code: "OPW114",
      message: `the unique rule of ${key} leaves out deleted documents, which have a key as well`,
      at: tree.at("documents", name, "key"),
    });
  if (found !== undefined) return unique;
  const rule = {
    name: derivedSqlName(`${name}_unique_${key}`),
    fields: [key],
    isGlobal: !tenant,
    isLiveOnly: false,
  };
  return [...unique, rule];
}

/** The input of a verb that names a document, which takes its key as well. */
export function takeKey({ key }: Pick<DocumentModel, "key">, input: InputModel): InputModel {
  if (key === null || !input.parameters.some((one) => isDeepStrictEqual(one, idInPath)))
    return input;
  const schema = { type: "string", description: `Its id, or its ${key}.` };
  const named: ParameterModel = { ...idInPath, type: "key", schema };
  const whole = input.schema as SchemaObject;
  return {
    ...input,
    schema: { ...whole, properties: { ...propertiesOf(whole), id: schema } },
    parameters: input.parameters.map((one) => (isDeepStrictEqual(one, idInPath) ? named : one)),
  };
}

/** The schema of a field in payloads: one that names documents with a key takes that as well. */
export function takeKeys(
  schema: JsonSchema,
  { documents }: Pick<Declarations, "documents">,
): JsonSchema {
  const reference = referenceOf(schema);
  const key = reference === null ? undefined : own(documents, reference.document)?.key;
  if (key === undefined || typeof schema !== "object") return schema;
  const { format: _format, ...named } = schema;
  const takes = { description: `Ids, or each its ${key}.` };
  if (reference?.many === true) return { ...takes, ...named, items: { type: "string" } };
  return { description: `The id, or the ${key}.`, ...named };
}
