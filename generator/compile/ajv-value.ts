// One value against one schema, with Ajv.
import { Ajv2020 } from "ajv/dist/2020.js";
import { formats } from "../../runtime/contract/validation.js";
import { withDecimalMultiples } from "./decimal-multiples.js";

/** Why the value does not match, or undefined if it does. */
export function faultOfValue(schema: object, value: unknown): string | undefined {
  const ajv = withDecimalMultiples(
    new Ajv2020({ strict: false, validateSchema: false, unevaluated: false, formats }),
  );
  const validate = ajv.compile(schema);
  if (validate(value)) return undefined;
  const [first] = validate.errors ?? [];
  return first?.message ?? "does not match its schema";
}
