// The defaults of documents, declared ones and those of their types' schemas.
import type { DeclaredDefault, RuleContext } from "../../../kernel/rule.js";
import { inside } from "../../../diagnostics/diagnostics.js";
import { documentMemberAt } from "../../../load/member-places.js";
import { writtenSchema } from "../../../kernel/written-later.js";
import {
  propertiesOf,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import type { Resolve } from "../../../kernel/resolve.js";
import type { DocumentDeclaration } from "../format.js";
import { nullablePaths } from "./patch-schema.js";
import { fieldsOfSome } from "./union.js";
import { own } from "../../../model/records.js";

const nothing: JsonSchema = { type: "null" };

export function documentDefaults({ loaded, expanded }: RuleContext): readonly DeclaredDefault[] {
  const { tree, declarations } = loaded;
  return Object.values(expanded.model.documents).flatMap((document) => {
    const declared = declarations.documents[document.name]?.defaults ?? {};
    const fields = propertiesOf(document.bodySchema);
    const someOf = fieldsOfSome(document.bodySchema);
    return Object.entries(document.defaults).flatMap(([member, value]) => {
      const schema = own(fields, member);
      if (schema === undefined) return [];
      const at = Object.hasOwn(declared, member)
        ? tree.at("documents", document.name, "defaults", member)
        : inside(documentMemberAt(tree, document.name, member), "default");
      const written = writtenSchema(schema, (name) => expanded.types.table.schemas.get(name));
      // Where only some branches have it, the others are left with a value that they can't have.
      const left = someOf.includes(member) ? [{ member, schema: nothing, value, at }] : [];
      return [{ member, schema: written, value, at }, ...left];
    });
  });
}

/** The body as it is stored: a member that has a default is always there. */
export function storedSchema(
  declaration: DocumentDeclaration,
  body: SchemaObject,
  resolve: Resolve,
): SchemaObject {
  const properties = propertiesOf(body);
  const defaults = defaultsOf(declaration, properties, nullablePaths([body], resolve));
  const required = Object.keys(properties).filter(
    (field) => requiredOf(body).includes(field) || Object.hasOwn(defaults, field),
  );
  return { ...body, ...(required.length > 0 ? { required } : {}) };
}

/**
 * Values of members that a payload leaves out: declared, from the schema, or null where null is a
 * value.
 */
export function defaultsOf(
  declaration: DocumentDeclaration,
  properties: Readonly<Record<string, JsonSchema>>,
  nullable: readonly string[],
): Readonly<Record<string, unknown>> {
  const defaults: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries(properties)) {
    if (nullable.includes(field)) defaults[field] = null;
    if (typeof schema === "object" && "default" in schema) defaults[field] = schema["default"];
  }
  for (const [field, value] of Object.entries(declaration.defaults ?? {})) {
    if (Object.hasOwn(properties, field)) defaults[field] = value;
  }
  return defaults;
}
