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
