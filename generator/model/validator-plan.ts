// A validator of the generated folder, before it is compiled.
import type { JsonSchema } from "./json-schema.js";

/** One validator: its export, its schema, the type it proves. */
export interface ValidatorPlan {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly typeName: string;
  /** Whether it puts in defaults where members are left out; else `default` says nothing to it. */
  readonly fillsDefaults?: boolean;
}

/** What the function that checks a schema of that name is called in a module of validators. */
export function functionName(name: string): string {
  return `${name}Check`;
}
