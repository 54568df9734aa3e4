// Conditions of a type: what must hold of some fields where others have certain values.
import { propertiesOf, requiredOf, type JsonSchema } from "../../../model/json-schema.js";

/** A condition, with what must hold if it is met, and if it is not. */
export interface FieldCondition {
  readonly if: JsonSchema;
  readonly then: JsonSchema;
  readonly else: JsonSchema;
}

/** The conditions of an object's schema, also of those within conditions. */
export function conditionsOf(schema: JsonSchema): readonly FieldCondition[] {
  if (typeof schema === "boolean") return [];
  const { if: asked, then: met = true, else: unmet = true, allOf = [] } = schema;
  const inner = [...(allOf as readonly JsonSchema[]), met as JsonSchema, unmet as JsonSchema];
  const own = asked === undefined ? [] : [{ if: asked, then: met, else: unmet } as FieldCondition];
  return [...own, ...inner.flatMap(conditionsOf)];
}

/** What conditions of an object's schema ask of a field, other than that it is null. */
export function conditionalSchemas(schema: JsonSchema, field: string): readonly JsonSchema[] {
  return conditionsOf(schema)
    .flatMap((one) => [propertiesOf(one.then)[field], propertiesOf(one.else)[field]])
    .filter((one) => one !== undefined)
    .filter((one) => typeof one === "boolean" || one["type"] !== "null");
}

/** The fields without which conditions of an object's schema would be met, or ask for something. */
export function fieldsAsked(schema: JsonSchema): readonly string[] {
  return conditionsOf(schema).flatMap((one) =>
    Object.keys(propertiesOf(one.if)).filter(
      (field) => one.else !== true || !requiredOf(one.if).includes(field),
    ),
  );
}
