// References to named types, followed.
import { referredType, type JsonSchema } from "../model/json-schema.js";

/** The schema of a named type. */
export type Resolve = (type: string) => JsonSchema | undefined;

/** The schema behind references. */
export function resolveSchema(schema: JsonSchema, resolve: Resolve): JsonSchema {
  let current = schema;
  for (let steps = 0; steps < 32; steps += 1) {
    const type = referredType(current);
    const next = type === undefined ? undefined : resolve(type);
    if (next === undefined) return current;
    current = next;
  }
  return current;
}
