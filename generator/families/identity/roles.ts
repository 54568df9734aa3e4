// `roles:`: what people may do by what they are, and whom they may make what.
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../kernel/family.js";
import { permissionFor, resourceOf } from "../../kernel/permissions.js";
import type { RoleModel } from "../../model/identity-model.js";

/** The roles by name, in the order of the registry. Reports roles that are given and not there. */
export function roleModels(context: FamilyContext): Readonly<Record<string, RoleModel>> {
  const { declarations, tree, report } = context;
  const declared = Object.entries(declarations.roles);
  const names = declared.map(([name]) => name);
  const models = declared.map(([name, role]) => {
    const { permissions, gives = [] } = "permissions" in role ? role : { permissions: role };
    for (const [index, given] of gives.entries())
      if (!names.includes(given))
        report({
          code: "OPW108",
          message: `no role is called ${given}`,
          at: tree.at("roles", name, "gives", index),
          suggestion: didYouMean(given, names),
        });
    return [name, { permissions: [...new Set(permissions)], gives: [...new Set(gives)] }] as const;
  });
  return Object.fromEntries(models);
}

/** Reports permissions of roles that no operation asks for and that stand above none (OPW109). */
export function rolePermissionsAreAsked(context: FamilyContext, override: readonly string[]): void {
  const { asked, declarations, tree, report } = context;
  const known = [...asked.keys()];
  const above = known.flatMap((one) =>
    override.map((permission) => permissionFor(permission, resourceOf(one))),
  );
  const useful = new Set([...known, ...above]);
  for (const [name, role] of Object.entries(declarations.roles)) {
    const isShort = !("permissions" in role);
    const permissions = isShort ? role : role.permissions;
    for (const [index, permission] of permissions.entries()) {
      if (useful.has(permission)) continue;
      report({
        code: "OPW109",
        message: `no policy asks for ${permission}`,
        at: tree.at("roles", name, ...(isShort ? [] : ["permissions"]), index),
        suggestion: didYouMean(permission, [...useful]),
      });
    }
  }
}
