// The operations of password resets, where `identity.reset` is declared (service.md "Password reset
// token").
import { bodyOf, expandBuiltIn, signedIn, type BuiltInVerb } from "../../kernel/built-in.js";
import { credentialText, newPasswordText } from "../../kernel/credentials.js";
import type { FamilyContext, UnmountedOperation } from "../../kernel/family.js";
import { identitySpec } from "./spec.js";

const verbs: readonly BuiltInVerb[] = [
  {
    name: "request_password_reset",
    handler: "requestPasswordReset",
    summary: "Ask for a token that resets the password of a login",
    route: ["POST", "/password-reset/request"],
    status: 202,
    takesSpec: true,
    isWrite: false,
    ignoresCredentials: true,
    body: bodyOf({ login: credentialText }),
    output: null,
    errors: [],
  },
  {
    name: "reset_password",
    handler: "resetPassword",
    summary: "Set a new password with a reset token",
    route: ["POST", "/password-reset/confirm"],
    status: 204,
    takesSpec: false,
    isWrite: false,
    ignoresCredentials: true,
    body: bodyOf({ token: credentialText, new_password: newPasswordText }),
    output: null,
    errors: ["core.authentication"],
  },
];

/** Two operations of `authn`. */
export function expandPasswordReset(context: FamilyContext): readonly UnmountedOperation[] {
  if (context.declarations.identity?.reset === undefined) return [];
  const at = context.tree.at("identity", "reset");
  const place = {
    family: "identity",
    handlers: "passwordReset",
    spec: identitySpec,
    namespace: "authn",
    at,
    guard: signedIn,
  } as const;
  return expandBuiltIn(context, place, verbs);
}
