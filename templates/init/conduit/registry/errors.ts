// The bodies of errors as RealWorld has them: {"errors": {"title": ["can't be blank"]}}.
import type { Envelope } from "../generated/errors.js";

interface Told {
  readonly what?: string;
  readonly members?: readonly string[];
  readonly errors?: readonly { readonly path: string; readonly keyword: string; readonly message: string }[];
}

export const envelope: Envelope = ({ code, detail, context }) => {
  const { what, members = [], errors = [] } = context as Told;
  const said: Record<string, string[]> = {};
  if (code === "core.authentication") said["token"] = ["is missing"];
  if (what !== undefined) said[what] = [detail];
  for (const member of members) said[member === "login" ? "email" : member] = ["has already been taken"];
  for (const { path, keyword, message } of errors) {
    const isBlank = ["required", "pattern"].includes(keyword); // all patterns ask for a character to be seen
    said[path.split("/").at(-1) || "body"] ??= [isBlank ? "can't be blank" : message];
  }
  return { errors: Object.keys(said).length > 0 ? said : { body: [detail] } };
};
