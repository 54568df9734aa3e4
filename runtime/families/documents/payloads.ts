// What handlers, and lists of many, write with: held to what callers may send.
import { fail, type ServiceError } from "../../contract/errors.js";
import { serviceFields } from "../../contract/fields.js";
import { isObject, pointer } from "../../contract/json-pointer.js";
import type { ValidationFault, Validator } from "../../contract/validation.js";
import { cut } from "../../operations/plain-json.js";

/**
 * What a handler passes on, as JSON has it: held to what callers may send, and without what only the service sets. Throws
 * `core.validation` with the pointers.
 */
export function checkedPayload(
  payload: unknown,
  validate: Validator<unknown> | undefined,
): Readonly<Record<string, unknown>> {
  // Checked is what is stored: a copy, without what is undefined.
  const given = cut.plain(payload);
  if (!isObject(given)) throw invalid([{ path: "", keyword: "type", message: "must be object" }]);
  const taken = serviceFields.filter((name) => Object.hasOwn(given, name));
  if (taken.length > 0)
    throw invalid(
      taken.map((name) => ({
        path: pointer("", name),
        keyword: "readOnly",
        message: "is set by the service",
      })),
    );
  const faults = validate?.(given) ?? null;
  if (faults !== null) throw invalid(faults);
  return given;
}

function invalid(faults: readonly ValidationFault[]): ServiceError {
  return fail("core.validation", { errors: faults });
}
