// Permissions that were called otherwise: grants keep the first name, so that each version finds
// what the others have granted (evolution.md "Rename").
import { firstName, presentName, type FirstNames } from "../../contract/former-names.js";

export interface FormerPermissions {
  /** Of namespaces: what all their permissions begin with. */
  readonly resources: FirstNames;
  /** Of single permissions. */
  readonly permissions: FirstNames;
}

/** The name under which a permission is granted from now on. Roles have no other name. */
export function storedPermission(former: FormerPermissions, permission: string): string {
  return ofResource(former, firstName(former.permissions, permission), firstName);
}

/**
 * Every name under which a permission may have been granted: the first one, and its later ones,
 * which a version that doesn't know them stores as they are.
 */
export function storedAs(former: FormerPermissions, permission: string): readonly string[] {
  const called = firstName(former.permissions, permission);
  return [...new Set([ofResource(former, called, firstName), called, permission])];
}

/** What a permission is called now, of whatever name it was stored under. */
export function presentPermission(former: FormerPermissions, stored: string): string {
  const called = presentName(former.permissions, stored);
  if (called !== stored) return called;
  return presentName(former.permissions, ofResource(former, stored, presentName));
}

/** A permission with its resource called as `rename` says. */
function ofResource(
  { resources }: FormerPermissions,
  permission: string,
  rename: typeof firstName,
): string {
  const [resource = "", action] = permission.split(".");
  return action === undefined ? permission : `${rename(resources, resource)}.${action}`;
}
