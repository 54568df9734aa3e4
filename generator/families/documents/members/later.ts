// Fields and values that documents have and nobody writes yet (`since: next`).
import { isWrittenLater } from "../../../load/written-later.js";
import { documentMemberAt } from "../../../load/member-places.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { Resolve } from "../../../kernel/resolve.js";
import { holdsLater, writtenSchema } from "../../../kernel/written-later.js";
import { propertiesOf, requiredOf, type SchemaObject } from "../../../model/json-schema.js";
import type { DocumentDeclaration } from "../format.js";
import { memberPaths } from "./fields.js";

/**
 * The fields that no payload has yet. Reports what would write them all the same, and documents
 * that would lack them.
 */
export function laterFields(
  { tree, report }: FamilyContext,
  name: string,
  { create = [], update = [], defaults: given = {} }: DocumentDeclaration,
  body: SchemaObject,
  begins: Readonly<Record<string, unknown>>,
  resolve: Resolve,
): readonly string[] {
  const properties = propertiesOf(body);
  const later = Object.keys(properties).filter((field) =>
    isWrittenLater(properties[field] ?? true),
  );
  const named = { create, update, defaults: Object.keys(given) };
  for (const field of later) {
    for (const [key, fields] of Object.entries(named))
      if (fields.includes(field))
        report({
          code: "OPW095",
          message: `${field} is written from the next version on, and in ${key}`,
          at: tree.at("documents", name, key),
        });
    if (requiredOf(body).includes(field) && !Object.hasOwn(begins, field))
      report({
        code: "OPW095",
        message: `${field} is required, and nobody writes it yet: give it a default or make it nullable`,
        at: documentMemberAt(tree, name, field),
      });
  }
  for (const { path, schema } of [{ path: "", schema: body }, ...memberPaths(body, resolve)]) {
    if (path === "" || typeof schema === "boolean") continue;
    const missing = requiredOf(schema).find((member) =>
      isWrittenLater(propertiesOf(schema)[member] ?? true),
    );
    if (missing !== undefined)
      report({
        code: "OPW095",
        message: `${path}.${missing} is required, and nobody writes it yet: make it nullable`,
        at: documentMemberAt(tree, name, path),
      });
  }
  if (holdsLater(writtenSchema(body, resolve), resolve))
    report({
      code: "OPW095",
      message: `a type of ${name} holds itself, so nothing within it can be written later`,
      at: tree.keyAt("documents", name),
    });
  return later;
}
