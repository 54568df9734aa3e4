// The tenancy family: the caller's tenants, and their administration (service.md "Tenant selector
// routes", "Tenant administration routes").
import { objectSchema, uuidSchema, type JsonSchema } from "../../model/json-schema.js";
import {
  bodyOf,
  expandBuiltIn,
  idInPath,
  withSession,
  builtInNamespace,
  type BuiltInVerb,
} from "../../kernel/built-in.js";
import type { ParameterModel } from "../../model/registry.js";
import type { FamilyContext, NamespaceExpansion } from "../../kernel/family.js";
import { administrationGuard } from "../../kernel/guards.js";
import { identitySpec } from "../identity/spec.js";

const tenantKey: JsonSchema = { type: "string", pattern: "^[a-z][a-z0-9-]{0,62}$" };
const membership = bodyOf({ tenant_id: uuidSchema, principal_id: uuidSchema });

const tenantEntry = { tenant_id: uuidSchema, tenant_key: tenantKey };

const tenantList = objectSchema(
  {
    tenants: {
      type: "array",
      items: objectSchema({ ...tenantEntry, is_current: { type: "boolean" } }, [
        "tenant_id",
        "tenant_key",
        "is_current",
      ]),
    },
  },
  ["tenants"],
);

const memberList = objectSchema(
  {
    members: { type: "array", items: objectSchema({ principal_id: uuidSchema }, ["principal_id"]) },
  },
  ["members"],
);

/** A switch ends the calling session unless the caller keeps it. */
const keep: ParameterModel = {
  name: "keep",
  in: "query",
  type: "boolean",
  required: false,
  schema: { type: "boolean", description: "Whether the calling session goes on as well." },
};

const after: ParameterModel = {
  name: "after",
  in: "query",
  type: "string",
  required: false,
  schema: { ...tenantKey, description: "The last key of the page before." },
};

const allTenants = objectSchema(
  {
    tenants: {
      type: "array",
      items: objectSchema({ ...tenantEntry, is_active: { type: "boolean" } }, [
        "tenant_id",
        "tenant_key",
        "is_active",
      ]),
    },
    has_more: { type: "boolean" },
  },
  ["tenants", "has_more"],
);

const selector: readonly BuiltInVerb[] = [
  {
    name: "list_tenants",
    handler: "listTenants",
    summary: "List the caller's tenants",
    route: ["GET", "/"],
    takesSpec: false,
    isWrite: false,
    output: "TenantList",
    errors: [],
  },
  {
    name: "switch_tenant",
    handler: "switchTenant",
    summary: "Take a token pair for one of the caller's tenants",
    route: ["POST", "/{id}/activate"],
    takesSpec: true,
    isWrite: true,
    tokens: "tenant",
    parameters: [idInPath, keep],
    output: "TokenResponse",
    errors: [],
  },
  {
    name: "leave_tenant",
    handler: "leaveTenant",
    summary: "Leave a tenant",
    route: ["DELETE", "/{id}"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found"],
  },
];

const administration: readonly BuiltInVerb[] = [
  {
    name: "create_tenant",
    handler: "createTenant",
    summary: "Create a tenant",
    route: ["POST", "/tenants"],
    status: 201,
    takesSpec: false,
    isWrite: true,
    body: bodyOf({ tenant_key: tenantKey }),
    output: "TenantCreated",
    errors: ["core.conflict"],
  },
  {
    name: "list_tenants",
    handler: "listAllTenants",
    summary: "List all tenants by key, 100 at once",
    route: ["GET", "/tenants"],
    takesSpec: false,
    isWrite: false,
    parameters: [after],
    output: "TenantPage",
    errors: [],
  },
  {
    name: "reactivate_tenant",
    handler: "reactivateTenant",
    summary: "Make a tenant active again",
    route: ["POST", "/tenants/{id}/reactivate"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found"],
  },
  {
    name: "list_members",
    handler: "listMembers",
    summary: "List the members of a tenant",
    route: ["GET", "/tenants/{id}/members"],
    takesSpec: false,
    isWrite: false,
    parameters: [idInPath],
    output: "MemberList",
    errors: ["core.not_found"],
  },
  {
    name: "deactivate_tenant",
    handler: "deactivateTenant",
    summary: "Make a tenant inactive",
    route: ["POST", "/tenants/{id}/deactivate"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    parameters: [idInPath],
    output: null,
    errors: ["core.not_found"],
  },
  {
    name: "invite_member",
    handler: "inviteMember",
    summary: "Make a principal a member of a tenant",
    route: ["POST", "/memberships"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: membership,
    output: null,
    errors: ["core.not_found"],
  },
  {
    name: "remove_member",
    handler: "removeMember",
    summary: "End a membership",
    route: ["DELETE", "/memberships"],
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: membership,
    output: null,
    errors: ["core.not_found"],
  },
];

const tenantsNamespace = {
  name: "tenants",
  description: "The caller's tenants.",
};

const administrationNamespace = {
  name: "tenant_admin",
  description: "Administration of tenants and memberships.",
};

/**
 * The namespaces of `tenancy:`; none if it isn't declared. Adds their types to the table; reports a
 * missing `identity:`.
 */
export function expandTenancy(context: FamilyContext): readonly NamespaceExpansion[] {
  const { declarations, tree, types, report } = context;
  const { tenancy, identity } = declarations;
  if (tenancy === undefined) return [];
  const at = tree.keyAt("tenancy");
  if (identity === undefined) {
    report({ code: "OPW012", message: "tenancy needs `identity:`, which is missing", at });
    return [];
  }
  types.table.add("TenantList", tenantList, at);
  const chosen = {
    family: "tenancy",
    handlers: "tenancy",
    spec: identitySpec,
    namespace: "tenants",
    at,
    guard: withSession,
  } as const;
  const { admin, selector: declared } = tenancy;
  const tenants = builtInNamespace(tenantsNamespace, at, expandBuiltIn(context, chosen, selector), {
    path: ["tenancy", "selector", "mount"],
    declared: declared?.mount,
    usual: "/tenants",
  });
  if (admin === undefined) return tenants;
  types.table.add("TenantCreated", objectSchema(tenantEntry, ["tenant_id", "tenant_key"]), at);
  types.table.add("TenantPage", allTenants, at);
  types.table.add("MemberList", memberList, at);
  const guard = administrationGuard(context, admin, ["tenancy", "admin"], "tenant_admin");
  const place = {
    family: "tenancy",
    handlers: "tenancy",
    spec: identitySpec,
    namespace: "tenant_admin",
    at,
    guard,
  } as const;
  return [
    ...tenants,
    ...builtInNamespace(
      administrationNamespace,
      at,
      expandBuiltIn(context, place, administration),
      {
        path: ["tenancy", "admin", "mount"],
        declared: admin.mount,
        usual: "/admin",
      },
    ),
  ];
}
