// What is wrong with the input of an operation that is invoked without a request.
import { nulFaults, type ValidationFault } from "../contract/validation.js";
import type { InputBinding } from "./input.js";

/**
 * The faults of an input, as the operation's own check finds them; null if there are none. What a
 * parser reads, such as the query of a list, is not checked here.
 */
export function inputFaults(
  { validate, body }: InputBinding<unknown>,
  input: unknown,
): readonly ValidationFault[] | null {
  const nul = nulFaults(input);
  if (nul.length > 0) return nul;
  if (validate !== undefined) return validate(input);
  if (body?.check === undefined || !("validate" in body.check)) return null;
  if (typeof body.as !== "object") return body.check.validate(input);
  const members = input as Readonly<Record<string, unknown>>;
  return body.check.validate(members[body.as.member]);
}
