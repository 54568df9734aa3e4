// The authentication family: signing in and out, sessions, passwords (service.md "Authentication routes").
import { durationSeconds } from "../load/quantities.js";
import { objectSchema, refTo, uuidSchema, type JsonSchema } from "../model/json-schema.js";
import { pascalCase } from "../model/names.js";
import type {
  AuthnVerb,
  IdentityModel,
  OperationModel,
  ParameterModel,
} from "../model/registry.js";
import type { FamilyContext, RouteMethod, UnmountedOperation } from "./family.js";

const text: JsonSchema = { type: "string", minLength: 1, maxLength: 4_096 };
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

interface VerbShape {
  readonly verb: AuthnVerb;
  readonly summary: string;
  readonly method: RouteMethod;
  readonly path: string;
  readonly status: number;
  /** Whether the caller must be signed in; otherwise the body authenticates. */
  readonly needsCaller: boolean;
  readonly takesSpec: boolean;
  readonly body?: { readonly schema: JsonSchema; readonly isOptional: boolean };
  readonly parameters?: readonly ParameterModel[];
  readonly output: "TokenResponse" | "SessionList" | null;
  readonly errors?: readonly string[];
}

const body = (properties: Readonly<Record<string, JsonSchema>>) => ({
  schema: objectSchema(properties, Object.keys(properties)),
  isOptional: false,
});

const verbs: Readonly<Record<string, VerbShape>> = {
  password_login: {
    verb: "passwordLogin",
    summary: "Sign in with a password",
    method: "POST",
    path: "/login",
    status: 200,
    needsCaller: false,
    takesSpec: true,
    body: body({ login: text, password: text }),
    output: "TokenResponse",
  },
  refresh_tokens: {
    verb: "refreshTokens",
    summary: "Exchange a refresh token for its successor",
    method: "POST",
    path: "/refresh",
    status: 200,
    needsCaller: false,
    takesSpec: true,
    body: body({ refresh_token: text }),
    output: "TokenResponse",
  },
  logout: {
    verb: "logout",
    summary: "End the calling session, or all of the caller's",
    method: "POST",
    path: "/logout",
    status: 204,
    needsCaller: true,
    takesSpec: false,
    body: {
      schema: objectSchema({ scope: { type: "string", enum: ["session", "all"] } }, []),
      isOptional: true,
    },
    output: null,
  },
  change_password: {
    verb: "changePassword",
    summary: "Change the caller's password and end all sessions",
    method: "POST",
    path: "/change-password",
    status: 204,
    needsCaller: true,
    takesSpec: false,
    body: body({ current_password: text, new_password: text }),
    output: null,
  },
  list_sessions: {
    verb: "listSessions",
    summary: "List the caller's live sessions",
    method: "GET",
    path: "/sessions",
    status: 200,
    needsCaller: true,
    takesSpec: false,
    output: "SessionList",
  },
  revoke_session: {
    verb: "revokeSession",
    summary: "End one of the caller's sessions",
    method: "DELETE",
    path: "/sessions/{id}",
    status: 204,
    needsCaller: true,
    takesSpec: false,
    parameters: [{ name: "id", in: "path", type: "uuid", required: true, schema: uuidSchema }],
    output: null,
    errors: ["core.not_found"],
  },
};

/** The settings of identity, with defaults; null where it is not declared. */
export function identityModel({ declarations }: FamilyContext): IdentityModel | null {
  const { identity } = declarations;
  if (identity === undefined) return null;
  return {
    accessTtlSeconds: durationSeconds(identity.access_ttl ?? "15m"),
    refreshTtlSeconds: durationSeconds(identity.refresh_ttl ?? "7d"),
    refreshGraceSeconds: durationSeconds(identity.refresh_grace ?? "10s"),
  };
}

/** The operations of `identity:`; none where it is not declared. Puts their types into the table. */
export function expandIdentity(context: FamilyContext): readonly UnmountedOperation[] {
  const { declarations, tree, types } = context;
  if (declarations.identity === undefined) return [];
  const at = tree.keyAt("identity");
  types.table.add("TokenResponse", tokenResponse, at);
  types.table.add("SessionList", sessionList, at);
  return Object.entries(verbs).map(([name, shape]) => {
    const route = { method: shape.method, path: shape.path };
    return {
      operation: operationOf(context, name, shape),
      routes: { rest: route, rpc: route },
      status: shape.status,
      at,
    };
  });
}

function operationOf(context: FamilyContext, name: string, shape: VerbShape): OperationModel {
  const key = `authn.${name}`;
  const typeName = `${pascalCase(key)}Input`;
  const parameters = shape.parameters ?? [];
  const schema =
    shape.body?.schema ??
    objectSchema(
      Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.schema])),
      parameters.map((parameter) => parameter.name),
    );
  context.types.table.claim(typeName, context.tree.keyAt("identity"));
  return {
    key,
    namespace: "authn",
    name,
    family: "authn",
    source: context.tree.keyAt("identity").file,
    summary: shape.summary,
    description: null,
    input: {
      schema,
      typeName,
      parameters,
      body: shape.body === undefined ? null : { as: "input", ...shape.body, typeName },
    },
    output: { schema: shape.output === null ? null : refTo(shape.output), hasEntityTag: false },
    guard: shape.needsCaller ? "principal" : "open",
    hooks: shape.needsCaller
      ? [
          {
            id: "principal",
            phase: "before",
            run: null,
            requires: [],
            provides: ["authn.principal"],
          },
        ]
      : [],
    deadlineSeconds: null,
    // Each opens write transactions of its own, so that hashing a password holds none.
    transaction: "read",
    idempotencyKey: false,
    requiresAuthn: shape.needsCaller,
    ignoresCredentials: !shape.needsCaller,
    route: null,
    run: { kind: "authn", verb: shape.verb, takesSpec: shape.takesSpec },
    errors: ["core.authentication", ...(shape.errors ?? [])],
    extensions: {},
  };
}
