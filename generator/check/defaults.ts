// The rule that default values match the schemas of their fields. Loads Ajv only where there are defaults to check.
import { isNullable, propertiesOf, referredType, type JsonSchema } from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { DocumentModel } from "../model/document-model.js";
import { bundled } from "../compile/checked-schemas.js";
import type { RuleContext } from "./rule-context.js";

/** Reports defaults that do not fit, declared ones and those of schemas; null for a nullable field always fits. */
export async function defaultsFit(context: RuleContext): Promise<void> {
  await documentDefaultsFit(context);
  await inputDefaultsFit(context);
}

/** Defaults in the input of an author's operation are filled in first, and then checked with the rest. */
async function inputDefaultsFit({ loaded, expanded, report }: RuleContext): Promise<void> {
  const { types, operations } = expanded.model;
  for (const { key, input, declares } of Object.values(operations)) {
    if (declares !== "handler") continue;
    const type = referredType(input.schema);
    const body = type === undefined ? input.schema : (own(types, type) ?? true);
    for (const [member, schema] of Object.entries(propertiesOf(body))) {
      if (typeof schema === "boolean" || !("default" in schema)) continue;
      const { default: value } = schema;
      if (fitsPlainly(schema, value)) continue;
      const message = await faultOf(schema, value, types);
      if (message === undefined) continue;
      const origin = type === undefined ? undefined : expanded.types.table.origins.get(type);
      const at =
        origin === undefined
          ? loaded.tree.at("operations", key, "in", member)
          : { ...origin, path: [...origin.path, member] };
      report({ code: "OPW031", message: `the default of ${member} ${message}`, at });
    }
  }
}

async function documentDefaultsFit({ loaded, expanded, report }: RuleContext): Promise<void> {
  for (const document of Object.values(expanded.model.documents)) {
    const declared = loaded.declarations.documents[document.name]?.defaults ?? {};
    for (const [field, value] of Object.entries(document.defaults)) {
      const schema = fieldSchema(document, field);
      if (schema === undefined || fitsPlainly(schema, value)) continue;
      const message = await faultOf(schema, value, expanded.model.types);
      if (message === undefined) continue;
      const type = expanded.types.table.origins.get(document.typeName);
      const at =
        Object.hasOwn(declared, field) || type === undefined
          ? loaded.tree.at("documents", document.name, "defaults", field)
          : { ...type, path: [...type.path, field] };
      report({ code: "OPW031", message: `the default of ${field} ${message}`, at });
    }
  }
}

function fieldSchema(document: DocumentModel, field: string): JsonSchema | undefined {
  return own(propertiesOf(document.bodySchema), field);
}

/** The common cases, for which no validator needs to be compiled. */
function fitsPlainly(schema: JsonSchema, value: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  if (value === null && isNullable(schema)) return true;
  const keywords = Object.keys(schema).filter(
    (key) => key !== "description" && key !== "title" && key !== "default",
  );
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return values.includes(value);
  if (type === "boolean") return typeof value === "boolean";
  if (type === "array" && Array.isArray(value) && value.length === 0)
    return !keywords.includes("minItems");
  return keywords.length === 1 && (type === "string" || type === "number") && typeof value === type;
}

async function faultOf(
  schema: JsonSchema,
  value: unknown,
  types: Readonly<Record<string, JsonSchema>>,
): Promise<string | undefined> {
  const { faultOfValue } = await import("../compile/ajv-value.js");
  return faultOfValue(bundled(schema, { types }), value);
}
