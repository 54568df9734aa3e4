// The tenancy family: the caller's tenants, and their administration (service.md "Tenant selector
// routes", "Tenant administration routes").
import { uuidSchema } from "../../model/json-schema.js";
import {
  bodyOf,
  expandBuiltIn,
  idInPath,
  withSession,
  builtInNamespace,
  type BuiltInVerb,
} from "../../kernel/built-in.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import { expandMembers } from "./members.js";
import { allTenants, memberList, tenantCreated, tenantKey, tenantList } from "./schemas.js";
import type { ParameterModel } from "../../model/registry.js";
import type { FamilyContext, NamespaceExpansion } from "../../kernel/family.js";
import { administrationGuard } from "../../kernel/guards.js";
import { identitySpec } from "../identity/spec.js";

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

const membership = bodyOf({ tenant_id: uuidSchema, principal_id: uuidSchema });

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
    takesSpec: true,
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

/** What makes a tenant for the caller, where callers may; reports roles that are not declared. */
function foundingVerbs({ declarations, tree, report }: FamilyContext): readonly BuiltInVerb[] {
  const create = declarations.tenancy?.selector?.create;
  if (create === undefined) return [];
  const known = Object.keys(declarations.roles);
  for (const [index, role] of create.roles.entries())
    if (!known.includes(role))
      report({
        code: "OPW108",
        message: `no role is called ${role}`,
        at: tree.at("tenancy", "selector", "create", "roles", index),
        suggestion: didYouMean(role, known),
      });
  return [
    {
      name: "create_tenant",
      handler: "foundTenant",
      summary: "Create a tenant with the caller as its first member",
      route: ["POST", "/"],
      status: 201,
      takesSpec: false,
      takes: create.roles.map((literal) => ({ literal })),
      isWrite: true,
      body: bodyOf({ tenant_key: tenantKey }),
      output: "TenantCreated",
      errors: ["core.conflict", "tenants_limit"],
    },
  ];
}

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
  const founding = foundingVerbs(context);
  if (founding.length > 0) types.table.addShared("TenantCreated", tenantCreated, at);
  const chosen = {
    family: "tenancy",
    handlers: "tenancy",
    spec: identitySpec,
    namespace: "tenants",
    at,
    guard: withSession,
  } as const;
  const { admin, selector: declared } = tenancy;
  const chosenVerbs = expandBuiltIn(context, chosen, [...selector, ...founding]);
  const tenants = [
    ...builtInNamespace(tenantsNamespace, at, chosenVerbs, {
      path: ["tenancy", "selector", "mount"],
      declared: declared?.mount,
      usual: "/tenants",
    }),
    ...expandMembers(context),
  ];
  if (admin === undefined) return tenants;
  types.table.addShared("TenantCreated", tenantCreated, at);
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
