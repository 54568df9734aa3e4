// The administration of principals: provisioning, permissions, deactivation. Each part is there
// where it is declared.
import { permissionPattern, rolePattern } from "../../../runtime/contract/permissions.js";
import { objectSchema, uuidSchema, type JsonSchema } from "../../model/json-schema.js";
import type { ParameterModel } from "../../model/registry.js";
import {
  bodyOf,
  idInPath,
  withSession,
  expandBuiltIn,
  builtInNamespace,
  type BuiltInVerb,
} from "../../kernel/built-in.js";
import { credentialText, newLoginText, newPasswordText } from "../../kernel/credentials.js";
import type { FamilyContext, NamespaceExpansion, UnmountedOperation } from "../../kernel/family.js";
import { administrationGuard, openPolicy, type BuiltInGuard } from "../../kernel/guards.js";
import { principalHook, sessionHook, rateLimitHook } from "../../kernel/runtime-hooks.js";
import { resolvesTokens } from "./routes.js";
import { identitySpec } from "./spec.js";

const role: JsonSchema = { type: "string", pattern: rolePattern };
const permission: JsonSchema = {
  type: "string",
  pattern: permissionPattern,
  description: "`tasks.read`, `admin`, or a role: `role:editor`.",
};
const tenantId: JsonSchema = {
  ...uuidSchema,
  description: "Where left out, the permission holds everywhere.",
};
const holder = { principal_id: uuidSchema, role, tenant_id: tenantId };
const grant: BuiltInVerb["body"] = {
  schema: {
    ...objectSchema({ ...holder, permission }, ["permission"]),
    oneOf: [{ required: ["principal_id"] }, { required: ["role"] }],
  },
  isOptional: false,
};

function queryParameter(
  name: string,
  type: ParameterModel["type"],
  schema: JsonSchema,
): ParameterModel {
  return { name, in: "query", type, required: false, schema };
}

const provisioning: readonly BuiltInVerb[] = [
  {
    name: "create_principal",
    handler: "createPrincipal",
    summary: "Create a principal that signs in with a password",
    route: ["POST", "/principals"],
    status: 201,
    takesSpec: false,
    isWrite: false,
    body: bodyOf({ login: newLoginText, password: newPasswordText }),
    output: "PrincipalCreated",
    errors: ["core.conflict"],
  },
  {
    name: "find_principals",
    handler: "findPrincipals",
    summary: "Find a principal by its login",
    route: ["GET", "/principals"],
    takesSpec: false,
    isWrite: false,
    parameters: [
      { name: "login", in: "query", type: "string", required: true, schema: credentialText },
    ],
    output: "PrincipalList",
    errors: [],
  },
  {
    name: "grant_permission",
    handler: "grantPermission",
    summary: "Give a principal or a role a permission",
    route: ["POST", "/grants"],
    status: 204,
    takesSpec: true,
    isWrite: true,
    body: grant,
    output: null,
    errors: ["core.not_found"],
  },
  {
    name: "list_permissions",
    handler: "listPermissions",
    summary: "List the permissions that a principal or a role was given",
    route: ["GET", "/grants"],
    takesSpec: true,
    isWrite: false,
    parameters: [
      queryParameter("principal_id", "uuid", uuidSchema),
      queryParameter("role", "string", {
        ...role,
        description: "Either this or `principal_id` is needed.",
      }),
      queryParameter("tenant_id", "uuid", tenantId),
    ],
    output: "PermissionList",
    errors: ["core.not_found"],
  },
  {
    name: "revoke_permission",
    handler: "revokePermission",
    summary: "Take a permission from a principal or a role",
    route: ["DELETE", "/grants"],
    status: 204,
    takesSpec: true,
    isWrite: true,
    body: grant,
    output: null,
    errors: ["core.not_found"],
  },
];

const subjectName: JsonSchema = { type: "string", minLength: 1, maxLength: 512 };
const subjectParameters: readonly ParameterModel[] = ["issuer", "subject"].map((name) => ({
  name,
  in: "query",
  type: "string",
  required: true,
  schema: subjectName,
}));

/** Where tokens of other issuers are resolved: whom their subjects are. */
const subjects: readonly BuiltInVerb[] = [
  {
    name: "find_subject",
    handler: "findSubject",
    summary: "Find the principal that a subject of another issuer is mapped to",
    route: ["GET", "/subjects"],
    takesSpec: false,
    isWrite: false,
    parameters: subjectParameters,
    output: "PrincipalList",
    errors: [],
  },
  {
    name: "link_subject",
    handler: "linkSubject",
    summary: "Map a subject of another issuer to a principal",
    route: ["POST", "/subjects"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: bodyOf({ issuer: subjectName, subject: subjectName, principal_id: uuidSchema }),
    output: null,
    errors: ["core.not_found", "core.conflict"],
  },
  {
    name: "unlink_subject",
    handler: "unlinkSubject",
    summary: "Take the mapping of a subject away",
    route: ["DELETE", "/subjects"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: bodyOf({ issuer: subjectName, subject: subjectName }),
    output: null,
    errors: ["core.not_found"],
  },
];

const principal = objectSchema(
  { principal_id: uuidSchema, login: { type: "string" }, is_active: { type: "boolean" } },
  ["principal_id", "login", "is_active"],
);

const deactivation: readonly BuiltInVerb[] = [
  {
    name: "deactivate_principal",
    handler: "deactivatePrincipal",
    summary: "Make a principal inactive and end its sessions",
    route: ["POST", "/deactivate"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: bodyOf({ principal_id: uuidSchema }),
    output: null,
    errors: ["core.not_found"],
  },
  {
    name: "reactivate_principal",
    handler: "reactivatePrincipal",
    summary: "Let a principal sign in again",
    route: ["POST", "/reactivate"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: bodyOf({ principal_id: uuidSchema }),
    output: null,
    errors: ["core.not_found"],
  },
];

const erasing: BuiltInVerb = {
  name: "erase_principal",
  handler: "erase",
  summary: "Erase a principal with what is personal",
  route: ["POST", "/erase"],
  takesSpec: true,
  isWrite: false,
  body: bodyOf({ principal_id: uuidSchema }),
  output: "ErasureReport",
  errors: ["core.not_found"],
};

const erasureReport = objectSchema(
  {
    principal_id: uuidSchema,
    erased: {
      type: "object",
      additionalProperties: { type: "integer" },
      description: "How many of each kind; what is not there was not found.",
    },
  },
  ["principal_id", "erased"],
);

/**
 * The guard, for sessions alone: with an API key, a leak of an hour would make an administrator for
 * good. What is open stays so.
 */
function bySession({ policy, hooks }: BuiltInGuard): BuiltInGuard {
  if (policy === openPolicy) return { policy, hooks };
  const own = [principalHook, sessionHook];
  const others = hooks.filter(({ id }) => own.every((hook) => hook.id !== id));
  return { policy, hooks: [...own, ...others] };
}

const principalsNamespace = {
  name: "principals",
  description: "Administration of principals and permissions.",
};

/** `authn.erase_principal`, where `identity.erase` is declared. */
export function expandErasure(context: FamilyContext): readonly UnmountedOperation[] {
  const { declarations, tree, types } = context;
  const declared = declarations.identity?.erase;
  if (declared === undefined) return [];
  const path = ["identity", "erase"];
  const at = tree.at(...path);
  types.table.add("ErasureReport", erasureReport, at);
  const guard = bySession(administrationGuard(context, declared, path, "authn"));
  const place = { family: "identity", handlers: "erasure", spec: identitySpec, namespace: "authn" };
  return expandBuiltIn(context, { ...place, at, guard }, [erasing]);
}

const exportingOwn: BuiltInVerb = {
  name: "export_own",
  handler: "own",
  summary: "Download all that is kept of the caller as lines of JSON",
  route: ["GET", "/export"],
  takesSpec: true,
  isWrite: false,
  mediaType: "application/jsonl",
  output: null,
  errors: [],
};

const exporting: BuiltInVerb = {
  name: "export_principal",
  handler: "of",
  summary: "Download all that is kept of a principal as lines of JSON",
  route: ["GET", "/export/{id}"],
  takesSpec: true,
  isWrite: false,
  mediaType: "application/jsonl",
  parameters: [idInPath],
  output: null,
  errors: ["core.not_found"],
};

/** `authn.export_own` and `authn.export_principal`, where `identity.export` is declared. */
export function expandExport(context: FamilyContext): readonly UnmountedOperation[] {
  const { declarations, tree } = context;
  const declared = declarations.identity?.export;
  if (declared === undefined) return [];
  const path = ["identity", "export"];
  const place = {
    family: "identity",
    handlers: "personExport",
    spec: identitySpec,
    namespace: "authn",
    at: tree.at(...path),
  } as const;
  // It may read the tables of all tenants from end to end.
  const seldom = { ...withSession, hooks: [...withSession.hooks, rateLimitHook("10/1h")] };
  const own = expandBuiltIn(context, { ...place, guard: seldom }, [exportingOwn]);
  const { guard: policy } = declared;
  if (policy === undefined) return own;
  const guard = bySession(administrationGuard(context, { guard: policy }, path, "authn"));
  return [...own, ...expandBuiltIn(context, { ...place, guard }, [exporting])];
}

/** `authn.deactivate_principal`, where `identity.deactivate` is declared. */
export function expandDeactivation(context: FamilyContext): readonly UnmountedOperation[] {
  const { declarations, tree } = context;
  const declared = declarations.identity?.deactivate;
  if (declared === undefined) return [];
  const path = ["identity", "deactivate"];
  const guard = bySession(administrationGuard(context, declared, path, "authn"));
  const place = {
    family: "identity",
    handlers: "principals",
    spec: identitySpec,
    namespace: "authn",
    at: tree.at(...path),
    guard,
  } as const;
  return expandBuiltIn(context, place, deactivation);
}

/**
 * The namespace `principals`, where `identity.provisioning` is declared. Puts its types into the
 * table.
 */
export function expandProvisioning(context: FamilyContext): readonly NamespaceExpansion[] {
  const { declarations, tree, types } = context;
  const declared = declarations.identity?.provisioning;
  if (declared === undefined) return [];
  const path = ["identity", "provisioning"];
  const at = tree.at(...path);
  const made = objectSchema({ principal_id: uuidSchema }, ["principal_id"]);
  const listed = { permissions: { type: "array", items: { type: "string" } } };
  types.table.add("PrincipalCreated", made, at);
  const found = { principals: { type: "array", items: principal } };
  types.table.add("PrincipalList", objectSchema(found, ["principals"]), at);
  types.table.add("PermissionList", objectSchema(listed, ["permissions"]), at);
  const guard = bySession(administrationGuard(context, declared, path, "principals"));
  const place = {
    family: "identity",
    handlers: "principals",
    spec: identitySpec,
    namespace: "principals",
    at,
    guard,
  } as const;
  const verbs = resolvesTokens(declarations.identity)
    ? [...provisioning, ...subjects]
    : provisioning;
  return builtInNamespace(principalsNamespace, at, expandBuiltIn(context, place, verbs), {
    path: [...path, "mount"],
    declared: declared.mount,
    usual: "/admin",
  });
}
