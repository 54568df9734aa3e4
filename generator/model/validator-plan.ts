// A validator of the generated folder, before it is compiled.
import type { JsonSchema } from "./json-schema.js";

/** One validator: its export, its schema, the type it proves. */
export interface ValidatorPlan {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly typeName: string;
  /** Whether it fills in the defaults of absent members; otherwise it ignores `default`. */
  readonly fillsDefaults?: boolean;
}

/** The name, in a module of validators, of the function that checks the schema with this name. */
export function functionName(name: string): string {
  return `${name}Check`;
}
