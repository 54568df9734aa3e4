// Conditions of a type: what must hold of some fields where others have certain values.
import { propertiesOf, requiredOf, type JsonSchema } from "../../../model/json-schema.js";

/** A condition, with what must hold if it is met, and if it is not. */
export interface FieldCondition {
  readonly asked: JsonSchema;
  readonly met: JsonSchema;
  readonly unmet: JsonSchema;
}

/** The conditions of an object's schema, also of those within conditions. */
export function conditionsOf(schema: JsonSchema): readonly FieldCondition[] {
  if (typeof schema === "boolean") return [];
  const given = schema as Readonly<Record<string, JsonSchema | undefined>>;
  const { if: asked, then: met = true, else: unmet = true } = given;
  const all = (schema["allOf"] ?? []) as readonly JsonSchema[];
  const own = asked === undefined ? [] : [{ asked, met, unmet }];
  return [...own, ...[...all, met, unmet].flatMap(conditionsOf)];
}

/** What conditions of an object's schema ask of a field, other than that it is null. */
export function conditionalSchemas(schema: JsonSchema, field: string): readonly JsonSchema[] {
  return conditionsOf(schema)
    .flatMap(({ met, unmet }) => [propertiesOf(met)[field], propertiesOf(unmet)[field]])
    .filter((one) => one !== undefined)
    .filter((one) => typeof one === "boolean" || one["type"] !== "null");
}

/** The fields without which conditions of an object's schema would be met, or ask for something. */
export function fieldsAsked(schema: JsonSchema): readonly string[] {
  return conditionsOf(schema).flatMap(({ asked, unmet }) =>
    Object.keys(propertiesOf(asked)).filter(
      (field) => unmet !== true || !requiredOf(asked).includes(field),
    ),
  );
}
