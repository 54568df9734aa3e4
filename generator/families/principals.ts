// The administration of principals: provisioning, permissions, deactivation. Each part is there where it is declared.
import { objectSchema, uuidSchema, type JsonSchema } from "../model/json-schema.js";
import { bodyOf, credentialText, expandBuiltIn, type BuiltInVerb } from "./built-in.js";
import type { FamilyContext, UnmountedOperation } from "./family.js";
import { administrationGuard } from "./guards.js";

const permission: JsonSchema = {
  type: "string",
  pattern: "^(?:admin|[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*)$",
};
const grant: BuiltInVerb["body"] = {
  schema: objectSchema(
    {
      principal_id: uuidSchema,
      permission,
      tenant_id: { ...uuidSchema, description: "Where left out, the permission holds everywhere." },
    },
    ["principal_id", "permission"],
  ),
  isOptional: false,
};

const provisioning: Readonly<Record<string, BuiltInVerb>> = {
  create_principal: {
    verb: "createPrincipal",
    summary: "Create a principal that signs in with a password",
    method: "POST",
    path: "/principals",
    status: 201,
    takesSpec: false,
    isWrite: false,
    body: bodyOf({ login: credentialText, password: credentialText }),
    output: "PrincipalCreated",
    errors: ["core.conflict"],
  },
  grant_permission: {
    verb: "grantPermission",
    summary: "Give a principal a permission",
    method: "POST",
    path: "/grants",
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: grant,
    output: null,
    errors: ["core.not_found"],
  },
  revoke_permission: {
    verb: "revokePermission",
    summary: "Take a permission from a principal",
    method: "DELETE",
    path: "/grants",
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: grant,
    output: null,
    errors: ["core.not_found"],
  },
};

const deactivation: Readonly<Record<string, BuiltInVerb>> = {
  deactivate_principal: {
    verb: "deactivatePrincipal",
    summary: "Make a principal inactive and end its sessions",
    method: "POST",
    path: "/deactivate",
    status: 204,
    takesSpec: false,
    isWrite: true,
    body: bodyOf({ principal_id: uuidSchema }),
    output: null,
    errors: ["core.not_found"],
  },
};

/** `authn.deactivate_principal`, where `identity.deactivate` is declared. */
export function expandDeactivation(context: FamilyContext): readonly UnmountedOperation[] {
  const { declarations, tree } = context;
  const declared = declarations.identity?.deactivate;
  if (declared === undefined) return [];
  const path = ["identity", "deactivate"];
  const guard = administrationGuard(context, declared, path, "authn");
  const place = { family: "principals", namespace: "authn", at: tree.at(...path), guard } as const;
  return expandBuiltIn(context, place, deactivation);
}

/** The namespace `principals`, where `identity.provisioning` is declared. Puts its types into the table. */
export function expandProvisioning(context: FamilyContext): readonly UnmountedOperation[] {
  const { declarations, tree, types } = context;
  const declared = declarations.identity?.provisioning;
  if (declared === undefined) return [];
  const path = ["identity", "provisioning"];
  const at = tree.at(...path);
  types.table.add(
    "PrincipalCreated",
    objectSchema({ principal_id: uuidSchema }, ["principal_id"]),
    at,
  );
  const guard = administrationGuard(context, declared, path, "principals");
  const place = { family: "principals", namespace: "principals", at, guard } as const;
  return expandBuiltIn(context, place, provisioning);
}
