// The authentication family: signing in and out, sessions, passwords (service.md "Authentication
// routes").
import { objectSchema, uuidSchema, type JsonSchema } from "../../model/json-schema.js";
import {
  bodyOf,
  expandBuiltIn,
  idInPath,
  withAnyCredential,
  withAnySession,
  withSession,
  builtInNamespace,
  type BuiltInVerb,
} from "../../kernel/built-in.js";
import { credentialText, newPasswordText } from "../../kernel/credentials.js";
import type { FamilyContext, NamespaceExpansion } from "../../kernel/family.js";
import { methodsOf } from "./expand.js";
import { expandPasswordReset } from "./password-reset.js";
import { expandDeactivation, expandErasure, expandExport } from "./principals.js";
import { expandSignUp, profileMember } from "./sign-up.js";
import { identitySpec } from "./spec.js";

const seconds: JsonSchema = { type: "integer", minimum: 0 };

const tokenResponse = objectSchema(
  {
    access_token: { type: "string", description: "A bearer credential." },
    refresh_token: { type: "string" },
    access_token_type: { type: "string", const: "Bearer" },
    access_expires_in: { ...seconds, description: "Seconds." },
    refresh_expires_in: { ...seconds, description: "Seconds." },
  },
  ["access_token", "refresh_token", "access_token_type", "access_expires_in", "refresh_expires_in"],
);

const sessionList = objectSchema(
  {
    sessions: {
      type: "array",
      items: objectSchema(
        {
          id: uuidSchema,
          created_at: { type: "string", format: "date-time" },
          is_current: { type: "boolean" },
        },
        ["id", "created_at", "is_current"],
      ),
    },
  },
  ["sessions"],
);

const ofTokens: readonly BuiltInVerb[] = [
  {
    name: "refresh_tokens",
    handler: "refreshTokens",
    summary: "Exchange a refresh token for its successor",
    route: ["POST", "/refresh"],
    takesSpec: true,
    isWrite: false,
    ignoresCredentials: true,
    tokens: "refresh",
    body: bodyOf({ refresh_token: credentialText }),
    output: "TokenResponse",
    errors: ["core.authentication"],
  },
  {
    name: "logout",
    handler: "logout",
    summary: "End the calling session, or all of the caller's",
    route: ["POST", "/logout"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    guard: withAnySession,
    body: {
      schema: objectSchema({ scope: { type: "string", enum: ["session", "all"] } }, []),
      isOptional: true,
    },
    output: null,
    errors: ["core.authorization"],
  },
  {
    name: "list_sessions",
    handler: "listSessions",
    summary: "List the caller's live sessions",
    route: ["GET", "/sessions"],
    takesSpec: false,
    isWrite: false,
    output: "SessionList",
    errors: [],
  },
  {
    name: "revoke_session",
    handler: "revokeSession",
    summary: "End one of the caller's sessions",
    route: ["DELETE", "/sessions/{id}"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found"],
  },
];

const nameOrNull: JsonSchema = { type: ["string", "null"] };

const caller: Readonly<Record<string, JsonSchema>> = {
  principal_id: { type: "string" },
  actor_principal_id: { ...nameOrNull, description: "Who acts for the principal." },
  tenant_id: nameOrNull,
  session_id: { ...nameOrNull, description: "Null for an API key." },
  scopes: {
    type: ["array", "null"],
    items: { type: "string" },
    description: "The permissions that the credential is for; null for all of the principal's.",
  },
};

const ofAll: readonly BuiltInVerb[] = [
  {
    name: "me",
    handler: "me",
    summary: "Say who is calling",
    route: ["GET", "/me"],
    takesSpec: true,
    isWrite: false,
    guard: withAnyCredential,
    output: "Caller",
    errors: [],
  },
];

const ofPasswords: readonly BuiltInVerb[] = [
  {
    name: "password_login",
    handler: "passwordLogin",
    summary: "Sign in with a password",
    route: ["POST", "/login"],
    takesSpec: true,
    isWrite: false,
    ignoresCredentials: true,
    tokens: "sign_in",
    body: bodyOf({ login: credentialText, password: credentialText }),
    output: "TokenResponse",
    errors: ["core.authentication"],
  },
  {
    name: "change_password",
    handler: "changePassword",
    summary: "Change the caller's password and end all sessions and API keys",
    route: ["POST", "/change-password"],
    status: 204,
    takesSpec: false,
    isWrite: false,
    body: bodyOf({ current_password: credentialText, new_password: newPasswordText }),
    output: null,
    errors: ["current_password_wrong"],
  },
];

const authnNamespace = {
  name: "authn",
  description: "Who is calling: signing in and out, sessions, passwords.",
};

/** The namespace `authn`; none where identity is not declared. Puts its types into the table. */
export function expandIdentity(context: FamilyContext): readonly NamespaceExpansion[] {
  const { declarations, tree, types } = context;
  const { identity } = declarations;
  if (identity === undefined) return [];
  const at = tree.keyAt("identity");
  const methods = methodsOf(identity);
  types.table.add("TokenResponse", tokenResponse, at);
  if (methods.includes("token")) types.table.add("SessionList", sessionList, at);
  const place = {
    family: "identity",
    handlers: "authn",
    spec: identitySpec,
    namespace: "authn",
    at,
    guard: withSession,
  } as const;
  const members = { ...caller, ...profileMember(context) };
  types.table.add("Caller", objectSchema(members, Object.keys(members)), at);
  const verbs = [
    ...ofAll,
    ...(methods.includes("token") ? ofTokens : []),
    ...(methods.includes("password") ? ofPasswords : []),
  ];
  const operations = [
    ...expandBuiltIn(context, place, verbs),
    ...expandPasswordReset(context),
    ...expandSignUp(context),
    ...expandDeactivation(context),
    ...expandErasure(context),
    ...expandExport(context),
  ];
  return builtInNamespace(authnNamespace, at, operations, {
    path: ["identity", "mount"],
    declared: identity.mount,
    usual: "/auth",
  });
}
