// The registry format of who is calling: identity, tenancy, authorization, policies, and the outbox.
import {
  duration,
  fieldType,
  listOf,
  mapOf,
  mount,
  optional,
  policyName,
  reference,
  required,
  text,
  urlPath,
} from "./format-parts.js";
import type { Shape } from "./shape.js";

/** Operations for administrators, behind one guard. */
const administration: Shape = {
  kind: "object",
  members: {
    guard: required(policyName, "The policy of every operation."),
    mount: optional(mount, "Where the routes are; /admin where left out."),
  },
};

const headerName: Shape = {
  kind: "string",
  pattern: /^[A-Za-z][A-Za-z0-9-]*$/,
  what: "the name of a header",
};

const signing: Shape = {
  kind: "object",
  members: {
    algorithm: required(
      { kind: "oneOf", values: ["HS256", "RS256", "ES256", "EdDSA"] },
      "How access tokens are signed.",
    ),
    signer: optional(reference, "A signer outside the service, with its public keys."),
  },
};

const reset: Shape = {
  kind: "object",
  members: {
    ttl: optional(duration, "The lifetime of a reset token; 1h where left out."),
    events: required(
      { kind: "oneOf", values: ["outbox"] },
      "How the token reaches its owner: as authn.password_reset_requested.",
    ),
  },
};

export const identity: Shape = {
  kind: "object",
  members: {
    route: optional(
      { kind: "string", pattern: /^[a-z][a-z0-9_]*$/, what: "a name in [a-z][a-z0-9_]*" },
      "Names the verifier and the resolver; api where left out.",
    ),
    methods: optional(
      listOf({ kind: "oneOf", values: ["token", "password", "api_key"] }, 1),
      "How callers may be identified; token and password where left out.",
    ),
    ingress: optional(
      listOf(
        {
          kind: "choice",
          members: {
            bearer: { shape: headerName, description: "A token in a header, as `Bearer …`." },
            api_key: { shape: headerName, description: "An API key in a header." },
            cookie: { shape: headerName, description: "A token in a cookie." },
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
    verifier: optional(reference, "Proves tokens in a way of the author's own."),
    resolver: optional(reference, "Says who a proven token speaks of."),
    signing: optional(signing, "How access tokens are signed; HS256 where left out."),
    access_ttl: optional(duration, "The lifetime of an access token; 15m where left out."),
    refresh_ttl: optional(duration, "The lifetime of a refresh token; 7d where left out."),
    refresh_grace: optional(
      { kind: "string", pattern: /^(?:0s|[1-9]\d*(?:ms|s|m|h|d))$/, what: "a duration, or 0s" },
      "How long a used refresh token still leads to the same successor; 10s where left out, 0s is strict.",
    ),
    reset: optional(reset, "Password resets; not registered where left out."),
    mount: optional(mount, "Where the authentication routes are; /auth where left out."),
    deactivate: optional(
      { kind: "object", members: { guard: required(policyName, "The policy that it asks.") } },
      "The operation that makes a principal inactive; not registered where left out.",
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
          path: optional(urlPath, "The path; /.well-known/jwks.json where left out."),
          cache_max_age: optional(
            { kind: "integer", minimum: 0 },
            "How long the answer may be cached, in seconds; 300 where left out.",
          ),
        },
      },
      "The public keys of access tokens; not served where left out.",
    ),
    openapi_exclude: optional(
      listOf({ kind: "string", what: "the key of an operation" }),
      "Operations whose need of a credential the OpenAPI document does not tell; they stay guarded.",
    ),
    provisioning: optional(
      administration,
      "Making principals, giving and taking permissions; not registered where left out.",
    ),
  },
};

export const tenancy: Shape = {
  kind: "object",
  members: {
    trust_tenant_header: optional(
      { kind: "boolean" },
      "Whether X-Tenant-Id names the tenant where the credential does not; false where left out.",
    ),
    trust_forwarded_host: optional(
      { kind: "boolean" },
      "Whether X-Forwarded-Host is believed from the proxies that TRUSTED_PROXIES names; false where left out.",
    ),
    host: optional(
      {
        kind: "string",
        pattern: /^(?:[a-z0-9-]+\.)*[a-z0-9-]*\{tenant\}(?:-[a-z0-9-]+)?(?:\.[a-z0-9-]+)+$/,
        what: "a host such as {tenant}.example.com",
      },
      "The host that names a tenant by its key; hosts name none where left out.",
    ),
    selector: optional(
      {
        kind: "object",
        members: { mount: optional(mount, "Where the routes are; /tenants where left out.") },
      },
      "How callers list, choose and leave their tenants.",
    ),
    admin: optional(
      administration,
      "Administration of tenants and memberships; not registered where left out.",
    ),
  },
};

const permission: Shape = {
  kind: "string",
  pattern: /^(?:(?:\{resource\}|[a-z][a-z0-9_]*)\.)?[a-z][a-z0-9_]*$/,
  what: "a permission such as admin or {resource}.admin",
};

export const authorization: Shape = {
  kind: "object",
  members: {
    override: optional(
      listOf(permission),
      "Permissions that stand above every other; admin and {resource}.admin where left out, none where empty.",
    ),
    decide: optional(reference, "Who decides; the service's own permissions where left out."),
  },
};

/** A step of a policy: a hook by its name, or one of the runtime with what it is made for. */
export const policyStep: Shape = {
  kind: "either",
  of: [
    { kind: "string", what: "the name of a hook" },
    {
      kind: "choice",
      members: {
        authorize: {
          shape: {
            kind: "string",
            pattern: /^(?:\{resource\}|[a-z][a-z0-9_]*)\.[a-z][a-z0-9_]*$/,
            what: "an action such as {resource}.read",
          },
          description: "The permission that the caller needs; {resource} is the namespace.",
        },
        scope: {
          shape: text,
          description: "Which rows the caller sees: own_rows, or one of `scopes`.",
        },
        rate_limit: {
          shape: {
            kind: "string",
            pattern: /^[1-9]\d*\/[1-9]\d*(?:s|m|h|d)$/,
            what: "a rate such as 100/1m",
          },
          description: "How often one caller may run each operation.",
        },
      },
    },
  ],
};

export const outbox: Shape = {
  kind: "object",
  members: {
    events: required(
      mapOf(
        {
          kind: "object",
          members: {
            destination: required(
              {
                kind: "string",
                pattern: /^(?:[a-z][a-z0-9_]*|.+#.+)$/,
                what: "the name of a destination, or file#export",
              },
              "Where it goes: a name whose URL the deployment gives, or a function.",
            ),
            data: optional(fieldType, "What it carries; the events of opwright have theirs."),
          },
        },
        /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/,
        "an event such as orders.placed",
      ),
      "Integration events by name.",
    ),
  },
};
