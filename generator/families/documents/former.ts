// What fields of a document were called before.
import type { FamilyContext } from "../../kernel/family.js";
import { conversionOf, formerName, formerValues } from "../../load/former-names.js";
import { documentMemberAt } from "../../load/member-places.js";
import { resolved, type Resolve } from "../../kernel/resolve.js";
import { withoutNull, type JsonSchema, type SchemaObject } from "../../model/json-schema.js";
import { nestedMembers } from "./fields.js";
import type { FormerNames } from "../../model/document-model.js";

/** Fields that were called otherwise, or have values that were. */
export function formerNames(
  properties: Readonly<Record<string, JsonSchema>>,
  resolve: Resolve,
): Readonly<Record<string, FormerNames>> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([field, schema]) => {
      const name = formerName(schema) ?? null;
      const values = formerValues(resolved(withoutNull(schema), resolve));
      const by = conversionOf(schema) ?? null;
      const isAsEver = name === null && by === null && Object.keys(values).length === 0;
      return isAsEver ? [] : [[field, { name, by, values }]];
    }),
  );
}

/** Rows are known by their members; what stands within these is stored as it is, so it cannot be renamed. */
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
    if (!isRenamed) continue;
    report({
      code: "OPW039",
      message: `${document}.${path} cannot be renamed: only members of the document itself can`,
      at: documentMemberAt(tree, document, path),
    });
  }
}
