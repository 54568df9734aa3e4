// Values and members that a version reads and doesn't write yet (`since: next`), because the
// version before doesn't know them.
import {
  mapSchema,
  propertiesOf,
  referredType,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { referredTypes } from "../model/referred-types.js";
import type { Resolve } from "./resolve.js";
import { isWrittenLater, laterValues, laterValuesKeyword } from "../load/written-later.js";

/** Whether anything of a schema, or of a type that it leads to, is written later. */
export function holdsLater(
  schema: JsonSchema,
  resolve: Resolve,
  seen = new Set<string>(),
): boolean {
  let isFound = false;
  mapSchema(schema, (inner) => {
    isFound ||= isWrittenLater(inner) || laterValues(inner).length > 0;
    return inner;
  });
  return (
    isFound ||
    referredTypes(schema).some((type) => {
      if (seen.has(type)) return false;
      seen.add(type);
      return holdsLater(resolve(type) ?? true, resolve, seen);
    })
  );
}

/**
 * The schema of what may be written: without what is written later. Types that hold such are
 * written out in place; one that holds itself stays as it is.
 */
export function writtenSchema(
  schema: JsonSchema,
  resolve: Resolve,
  through: readonly string[] = [],
): JsonSchema {
  if (!holdsLater(schema, resolve)) return schema;
  return mapSchema(schema, (inner) => {
    const type = referredType(inner);
    if (type !== undefined && !through.includes(type)) {
      const target = resolve(type) ?? true;
      if (!holdsLater(target, resolve)) return inner;
      const written = writtenSchema(target, resolve, [...through, type]);
      const { $ref: _type, ...rest } = inner;
      return typeof written === "boolean" ? written : { ...written, ...rest };
    }
    return withoutLater(inner);
  });
}

function withoutLater(schema: SchemaObject): SchemaObject {
  const { [laterValuesKeyword]: _later, ...told } = schema;
  const later = laterValues(schema);
  const { enum: values } = schema;
  const properties = Object.entries(propertiesOf(schema));
  const now = properties.filter(([, member]) => !isWrittenLater(member));
  const names = now.map(([name]) => name);
  return {
    ...told,
    ...(Array.isArray(values) && later.length > 0
      ? { enum: values.filter((value) => !later.includes(value as string)) }
      : {}),
    ...(now.length === properties.length
      ? {}
      : {
          properties: Object.fromEntries(now),
          required: requiredOf(schema).filter((name) => names.includes(name)),
        }),
  };
}
