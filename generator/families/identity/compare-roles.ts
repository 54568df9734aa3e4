// What changes of roles mean for those who have them: permissions by the names under which grants
// are stored, so that one which is only called otherwise is no change.
import { firstName } from "../../../runtime/contract/former-names.js";
import { admissions, type Told } from "../../compare/rules.js";
import type { IdentityModel } from "../../model/identity-model.js";
import { own } from "../../model/records.js";

/** What somebody who has a role may do and give now, or no longer. */
export function compareRoles(before: IdentityModel, after: IdentityModel): readonly Told[] {
  const names = new Set([...Object.keys(before.roles), ...Object.keys(after.roles)]);
  return [...names].flatMap((name): readonly Told[] => {
    const [was, is] = [own(before.roles, name), own(after.roles, name)];
    // It may have been granted already, when it permitted nothing.
    if (was === undefined) return [["opens", `has the role ${name}`]];
    if (is === undefined) return [["breaking", `no longer has the role ${name}`]];
    const called = new Map([
      ...was.permissions.map((one) => [storedName(before, one), one] as const),
      ...is.permissions.map((one) => [storedName(after, one), one] as const),
    ]);
    return [
      ...admissions<string>(
        (stored) => `lets the role ${name} do ${called.get(stored) ?? stored}`,
        (stored) => `no longer lets the role ${name} do ${called.get(stored) ?? stored}`,
      )(
        was.permissions.map((one) => storedName(before, one)),
        is.permissions.map((one) => storedName(after, one)),
      ),
      ...admissions<string>(
        (role) => `lets the role ${name} give ${role}`,
        (role) => `no longer lets the role ${name} give ${role}`,
      )(was.gives, is.gives),
    ];
  });
}

/** The name under which grants of a permission are stored. */
function storedName({ former }: IdentityModel, permission: string): string {
  const called = firstName(former.permissions, permission);
  const [resource = "", action] = called.split(".");
  return action === undefined ? called : `${firstName(former.resources, resource)}.${action}`;
}
