// What is wrong with the input of an operation that is invoked without a request.
import { isObject } from "../contract/json-pointer.js";
import { nulFaults, type ValidationFault } from "../contract/validation.js";
import { bytesMember, type InputBinding } from "./input.js";

/**
 * The faults of an input, as the operation's own check finds them; null if there are none. Throws
 * what a parser finds, such as that of the query of a list.
 */
export function inputFaults(
  { validate, body }: InputBinding<unknown>,
  input: unknown,
): readonly ValidationFault[] | null {
  // A form is read by the handler.
  if (body?.isForm === true) return null;
  if (body?.media === "bytes") return bytesFaults(input, validate);
  const nul = nulFaults(input);
  if (nul.length > 0) return nul;
  if (validate !== undefined) return validate(input);
  if (body?.check === undefined) return null;
  if ("parse" in body.check) {
    body.check.parse(input);
    return null;
  }
  if (typeof body.as !== "object") return body.check.validate(input);
  const members = input as Readonly<Record<string, unknown>>;
  return body.check.validate(members[body.as.member]);
}

/** The faults of an input that has the bytes of a body beside its other members. */
function bytesFaults(
  input: unknown,
  validate: InputBinding<unknown>["validate"],
): readonly ValidationFault[] | null {
  const given = isObject(input) ? input : {};
  const { [bytesMember]: bytes, ...rest } = given;
  if (bytes instanceof Uint8Array) return validate?.(rest) ?? null;
  return [{ path: `/${bytesMember}`, keyword: "type", message: "must be bytes" }];
}
