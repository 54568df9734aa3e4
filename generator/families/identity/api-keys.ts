// The API-key family, where `identity.api_keys` is declared (service.md "API-key management").
import { scopePattern } from "../../../runtime/contract/permissions.js";
import { objectSchema, uuidSchema, type JsonSchema } from "../../model/json-schema.js";
import {
  expandBuiltIn,
  idInPath,
  withSession,
  builtInNamespace,
  type BuiltInVerb,
} from "../../kernel/built-in.js";
import type { FamilyContext, NamespaceExpansion } from "../../kernel/family.js";
import { identitySpec, may } from "./spec.js";

const text: JsonSchema = { type: "string" };
const label: JsonSchema = { type: "string", minLength: 1, maxLength: 200 };
const time: JsonSchema = { type: "string", format: "date-time" };
const tenYears = 315_360_000;

const scopes: JsonSchema = {
  type: "array",
  items: { type: "string", pattern: scopePattern, maxLength: 200 },
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
};

const described = { key_id: uuidSchema, prefix: text, hint: text };

const issued = objectSchema(
  {
    api_key: { type: "string", description: "The secret; it is never shown again." },
    ...described,
    label,
    scopes,
    expires_at: time,
  },
  ["api_key", "key_id", "prefix", "hint"],
);

const listed = objectSchema(
  {
    keys: {
      type: "array",
      items: objectSchema(
        {
          ...described,
          label: { ...label, type: ["string", "null"] },
          actor_principal_id: uuidSchema,
          scopes,
          created_at: time,
          expires_at: time,
          last_used_at: { ...time, description: "Noted once a minute." },
        },
        ["key_id", "prefix", "hint", "label", "created_at"],
      ),
    },
  },
  ["keys"],
);

const verbs: readonly BuiltInVerb[] = [
  {
    name: "issue",
    handler: "issue",
    summary: "Issue an API key for the caller",
    route: ["POST", "/"],
    status: 201,
    takesSpec: true,
    takes: [may],
    isWrite: true,
    body: {
      schema: objectSchema(
        {
          label,
          actor_principal_id: { ...uuidSchema, description: "Who acts with it for the caller." },
          scopes: {
            ...scopes,
            description:
              "Permissions of the caller's that the key is for; all of them where left out.",
          },
          expires_in: {
            type: "integer",
            minimum: 1,
            maximum: tenYears,
            description: "Seconds; the key does not end where left out.",
          },
        },
        [],
      ),
      isOptional: true,
    },
    output: "ApiKeyIssued",
    errors: ["core.not_found", "core.authorization", "api_keys_limit"],
  },
  {
    name: "list",
    handler: "list",
    summary: "List the caller's API keys",
    route: ["GET", "/"],
    takesSpec: true,
    isWrite: false,
    output: "ApiKeyList",
    errors: [],
  },
  {
    name: "revoke",
    handler: "revoke",
    summary: "Revoke one of the caller's API keys",
    route: ["DELETE", "/{id}"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found"],
  },
];

const keysNamespace = {
  name: "api_keys",
  description: "The caller's API keys.",
};

/** The namespace `api_keys`. Puts its types into the table. */
export function expandApiKeys(context: FamilyContext): readonly NamespaceExpansion[] {
  const { declarations, tree, types } = context;
  const declared = declarations.identity?.api_keys;
  if (declared === undefined) return [];
  const at = tree.at("identity", "api_keys");
  types.table.add("ApiKeyIssued", issued, at);
  types.table.add("ApiKeyList", listed, at);
  const place = {
    family: "identity",
    handlers: "apiKeys",
    spec: identitySpec,
    namespace: "api_keys",
    at,
    guard: withSession,
  } as const;
  return builtInNamespace(keysNamespace, at, expandBuiltIn(context, place, verbs), {
    path: ["identity", "api_keys", "mount"],
    declared: declared.mount,
    usual: "/api-keys",
  });
}
