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

/**
 * A module of values that authors' code tells others: each is cut to the declared members and
 * checked.
 */
export interface ToldPlans {
  /** The function of the runtime that does so. */
  readonly holds: "errorContext" | "eventData" | "jobInput";
  readonly plans: readonly ValidatorPlan[];
}

/** The name, in a module of validators, of the function that checks the schema with this name. */
export function functionName(name: string): string {
  return `${name}Check`;
}
