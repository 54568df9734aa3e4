// `identity:` and `authorization:`: how callers are known, and who decides what they may do.
import {
  administration,
  duration,
  listOf,
  mapOf,
  mount,
  optional,
  permission,
  policyName,
  reference,
  required,
  urlPath,
  requiredGuard,
  roleName,
} from "../../load/format-parts.js";
import { adviseWords } from "../../load/shape-advice.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";

const headerName = {
  kind: "string",
  pattern: /^[A-Za-z][A-Za-z0-9-]*$/,
  what: "the name of a header",
  example: "Authorization",
} as const satisfies FormatShape;

const parameterName = {
  kind: "string",
  pattern: /^[A-Za-z][A-Za-z0-9_-]*$/,
  what: "the name of a query parameter",
  example: "access_token",
} as const satisfies FormatShape;

const routeName = {
  kind: "string",
  pattern: /^[a-z][a-z0-9_]*$/,
  what: "a name in [a-z][a-z0-9_]*",
  form: "name",
  example: "partners",
} as const satisfies FormatShape;

const documentName = {
  kind: "string",
  pattern: /^[a-z][a-z0-9_]*$/,
  what: "the name of a document",
  form: "name",
  example: "profiles",
} as const satisfies FormatShape;

const verifier = optional(reference, "Proves tokens in a way of the author's own.");
const resolver = optional(reference, "Says who a proven token speaks of.");

const signing = {
  kind: "object",
  members: {
    algorithm: required(
      { kind: "oneOf", values: ["HS256", "RS256", "ES256", "EdDSA"] },
      "How access tokens are signed.",
    ),
    signer: optional(reference, "A signer outside the service, with its public keys."),
  },
} as const satisfies FormatShape;

const reset = {
  kind: "object",
  members: {
    ttl: optional(duration, "The lifetime of a reset token; 1h where left out.", "1h"),
    events: required(
      { kind: "oneOf", values: ["outbox"] },
      "How the token reaches its owner: as authn.password_reset_requested.",
    ),
  },
} as const satisfies FormatShape;

const signUp = {
  kind: "object",
  members: {
    verify: required(
      { kind: "oneOf", values: ["email", "none"] },
      "`email`: the login is an address, and a token that is mailed there makes the principal. `none` makes it at once.",
    ),
    profile: optional(
      documentName,
      "The document that is made with each principal, and belongs to it.",
    ),
    ttl: optional(duration, "The lifetime of a mailed token; 24h where left out.", "24h"),
  },
} as const satisfies FormatShape;

const identity = {
  kind: "object",
  members: {
    route: optional(routeName, "Names the verifier and the resolver; api where left out."),
    routes: optional(
      mapOf({ kind: "object", members: { verifier, resolver } }, undefined, undefined, "partners"),
      "Several ways of knowing tokens, by name, in place of `route`, `verifier` and `resolver`; an empty one takes the service's own tokens.",
    ),
    methods: optional(
      listOf(
        {
          kind: "oneOf",
          values: ["token", "password", "api_key"],
          advice: adviseWords({
            jwt: "token",
            bearer: "token",
            apikey: "api_key",
            login: "password",
          }),
        },
        1,
      ),
      "How callers may be identified; token and password where left out.",
    ),
    ingress: optional(
      listOf(
        {
          kind: "choice",
          members: {
            bearer: { shape: headerName, description: "A token in a header, behind its scheme." },
            api_key: {
              shape: headerName,
              description: "An API key in a header.",
              example: "X-API-Key",
            },
            cookie: {
              shape: headerName,
              description: "A token in a cookie.",
              example: "session",
            },
            query: {
              shape: parameterName,
              description: "A token in the query of a WebSocket's handshake, and nowhere else.",
            },
          },
          beside: {
            route: optional(routeName, "Which of `routes` knows its tokens; api, or the only one."),
            scheme: optional(headerName, "What stands before a bearer token; Bearer.", "Bearer"),
          },
        },
        1,
      ),
      "Where credentials stand, in order; a bearer token in Authorization where left out.",
    ),
    when_multiple_credentials: optional(
      { kind: "oneOf", values: ["first_in_order"] },
      "The first that is present is taken, valid or not.",
    ),
    verifier,
    resolver,
    signing: optional(signing, "How access tokens are signed; HS256 where left out."),
    access_ttl: optional(duration, "The lifetime of an access token; 15m where left out.", "15m"),
    refresh_ttl: optional(duration, "The lifetime of a refresh token; 7d where left out.", "7d"),
    refresh_grace: optional(
      {
        kind: "string",
        pattern: /^(?:0s|[1-9]\d*(?:ms|s|m|h|d))$/,
        what: "a duration, or 0s",
        form: "duration",
        example: "10s",
      },
      "How long a used refresh token still leads to the same successor; 10s where left out, 0s is strict.",
    ),
    reset: optional(reset, "Password resets; not registered where left out."),
    sign_up: optional(signUp, "Registering by oneself; not registered where left out."),
    mount: optional(mount, "Where the authentication routes are; /auth where left out."),
    deactivate: optional(
      { kind: "object", members: { guard: requiredGuard(policyName, "The policy that it asks.") } },
      "The operation that makes a principal inactive; not registered where left out.",
    ),
    erase: optional(
      {
        kind: "object",
        members: {
          guard: requiredGuard(policyName, "The policy that it asks."),
          also: optional(
            reference,
            "Removes what else is kept of somebody, such as files.",
            "registry/people.ts#eraseFiles",
          ),
        },
      },
      "The operation that erases a principal with what is personal; not registered where left out.",
    ),
    export: optional(
      {
        kind: "object",
        members: {
          guard: optional(
            policyName,
            "The policy of whoever may have that of others; people have their own alone where left out.",
          ),
          also: optional(
            reference,
            "Tells what else is kept of somebody, such as files.",
            "registry/people.ts#exportFiles",
          ),
        },
      },
      "How people get all that is kept of them; not registered where left out.",
    ),
    api_keys: optional(
      {
        kind: "object",
        members: { mount: optional(mount, "Where the routes are; /api-keys where left out.") },
      },
      "How callers issue, list and revoke API keys; not registered where left out.",
    ),
    jwks: optional(
      {
        kind: "object",
        members: {
          path: optional(urlPath, "The path; /.well-known/jwks.json where left out.", "/keys.json"),
          cache_max_age: optional(
            { kind: "integer", minimum: 0 },
            "How long the answer may be cached, in seconds; 300 where left out.",
          ),
        },
      },
      "The public keys of access tokens; not served where left out.",
    ),
    openapi_exclude: optional(
      listOf({ kind: "string", what: "the key of an operation", example: "tasks.list" }),
      "Operations whose need of a credential the OpenAPI document does not tell; they stay guarded.",
    ),
    provisioning: optional(
      administration,
      "Making principals, giving and taking permissions; not registered where left out.",
    ),
  },
} as const satisfies FormatShape;

const authorization = {
  kind: "object",
  members: {
    override: optional(
      listOf(permission),
      "Permissions that stand above every other; admin and {resource}.admin where left out, none where empty.",
    ),
    decide: optional(reference, "Who decides; the service's own permissions where left out."),
  },
} as const satisfies FormatShape;

const rolePermission = {
  kind: "string",
  pattern: /^(?:[a-z][a-z0-9_]*\.)?[a-z][a-z0-9_]*$/,
  what: "a permission such as tasks.read",
  example: "tasks.read",
} as const satisfies FormatShape;

const roles = mapOf(
  {
    kind: "either",
    of: [
      listOf(rolePermission),
      {
        kind: "object",
        members: {
          permissions: required(listOf(rolePermission), "What whoever has the role may do."),
          gives: optional(
            listOf(roleName),
            "The roles that whoever has this one may give to members and take from them; none where left out.",
          ),
        },
      },
    ],
  },
  undefined,
  undefined,
  "agent",
);

export type IdentityDeclaration = Declared<typeof identity>;
type Of<Name extends keyof IdentityDeclaration> = NonNullable<IdentityDeclaration[Name]>;

export type IdentityMethod = Of<"methods">[number];

/** Where a credential stands: exactly one of its places. */
export type IngressDeclaration = Of<"ingress">[number];

/** How tokens are known; the service's own where both are left out. */
export type AuthenticationRouteDeclaration = Of<"routes">[string];

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly identity: IdentityDeclaration | undefined;
    readonly authorization: Declared<typeof authorization> | undefined;
    readonly roles: Declared<typeof roles>;
  }
}

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  identity: {
    ...optional(identity, "How callers sign in and are identified."),
    alsoCalled: ["auth", "authentication", "login"],
  },
  authorization: optional(authorization, "Who decides what callers may do."),
  roles: optional(roles, "Roles by name: what whoever has them may do."),
};
