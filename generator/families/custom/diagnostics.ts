// Diagnostics of operations of the author's own.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW015: entry(
    "Header of opwright's own",
    "An operation reads a credential, or sets a header that the service or the protocol sets.",
    "Leave it out: `identity` knows credentials, `reply.cookies` sets cookies, `reply.redirect` sends callers on.",
  ),
  OPW040: entry(
    "Bad operation key",
    "An operation key is not <namespace>.<operation> in [a-z][a-z0-9_]* with exactly one dot.",
    "Rename the operation, or its namespace.",
  ),
  OPW044: entry(
    "Placeholder without input",
    "A path placeholder is not a member of the operation's `in`.",
    "Add the member, or take the placeholder out of the path.",
  ),
  OPW045: entry(
    "Value cannot travel in the URL",
    "A path or query value must be a string, uuid, integer, number or boolean.",
    "Use a method with a body, or a scalar type.",
  ),
  OPW046: entry(
    "No or several methods",
    "An operation has one of get, post, put, patch, delete.",
    "Keep exactly one.",
  ),
  OPW078: entry(
    "Credentials ignored",
    "An operation does not look at credentials, but its guard or a hook requires a caller, so every call would be 401.",
    "Remove `credentials: ignore`, or name a policy that requires no caller.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
