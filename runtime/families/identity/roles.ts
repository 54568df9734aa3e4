// Roles of the registry: what whoever has one may do, and which roles it gives to others.

/** What whoever has a role may do. */
export interface Role {
  readonly permissions: readonly string[];
  /** The roles that it gives to members and takes from them; none where left out. */
  readonly gives?: readonly string[];
}

/** Roles by name. */
export type Roles = Readonly<Record<string, Role>>;

/** A role as grants name it: `role:agent`. */
export function grantOfRole(name: string): string {
  return `role:${name}`;
}

/** The grants of the roles that permit one of some actions. */
export function rolesPermitting(roles: Roles, actions: readonly string[]): readonly string[] {
  return Object.entries(roles)
    .filter(([, { permissions }]) => permissions.some((one) => actions.includes(one)))
    .map(([name]) => grantOfRole(name));
}

/** The grants of the roles that give a role to others. */
export function rolesGiving(roles: Roles, name: string): readonly string[] {
  return Object.entries(roles)
    .filter(([, { gives = [] }]) => gives.includes(name))
    .map(([giver]) => grantOfRole(giver));
}
