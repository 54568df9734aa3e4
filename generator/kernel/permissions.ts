// The permissions that policies ask for, and the names under which grants of them are stored: the
// first ones, which versions before know (evolution.md "Rename").
import type { Origin, Report } from "../diagnostics/diagnostics.js";
import type { Declarations } from "../load/declarations.js";
import { own } from "../model/records.js";

/** A permission that a policy asks for, by its name. */
export interface AskedPermission {
  /** The name under which grants are stored. */
  readonly stored: string;
  /** Where it is asked for first. */
  readonly at: Origin;
}

/** What is asked for, by name; `hookChain` adds to it. */
export type AskedPermissions = Map<string, AskedPermission>;

/** What families are expanded with. */
interface Asking {
  readonly asked: AskedPermissions;
  readonly declarations: Declarations;
  readonly report: Report;
}

/** What a permission is about: the part before its dot; the whole where it has none. */
export function resourceOf(permission: string): string {
  return permission.split(".", 1)[0] ?? permission;
}

/** A permission of a policy, or of an override, for one resource. */
export function permissionFor(template: string, resource: string): string {
  return template.replaceAll("{resource}", resource);
}

/** The first names of namespaces that are called otherwise now, by their names. */
export function formerResources({
  documents,
  search,
  storage,
}: Declarations): Readonly<Record<string, string>> {
  const named = [documents, search, storage].flatMap(
    (
      section,
    ): readonly (readonly [string, { readonly was?: string; readonly former?: string }])[] =>
      Object.entries(section),
  );
  return Object.fromEntries(
    named.flatMap(([name, { was, former }]) => {
      const first = was ?? former;
      return first === undefined ? [] : [[name, first]];
    }),
  );
}

/** What policies say a permission was called; more than one is a fault. */
export function formerPermissions(
  { policies }: Declarations,
  permission: string,
): readonly string[] {
  const resource = resourceOf(permission);
  const said = Object.values(policies)
    .flat()
    .flatMap((step) => {
      if (typeof step === "string" || step.authorize === undefined || step.was === undefined)
        return [];
      return permissionFor(step.authorize, resource) === permission
        ? [permissionFor(step.was, resource)]
        : [];
    });
  return [...new Set(said)];
}

/** The name under which grants of a permission are stored. */
export function storedPermission(declarations: Declarations, permission: string): string {
  const [called = permission] = formerPermissions(declarations, permission);
  const resource = resourceOf(called);
  const first = own(formerResources(declarations), resource);
  const isOfResource = first !== undefined && called.startsWith(`${resource}.`);
  return isOfResource ? `${first}${called.slice(resource.length)}` : called;
}

/** Notes that a permission is asked for; returns the name under which grants of it are stored. */
export function askFor(
  { asked, declarations }: Pick<Asking, "asked" | "declarations">,
  permission: string,
  at: Origin,
): string {
  const known = asked.get(permission)?.stored;
  if (known !== undefined) return known;
  const stored = storedPermission(declarations, permission);
  asked.set(permission, { stored, at });
  return stored;
}

/**
 * Reports permissions that grants could not tell apart, or that would hold elsewhere than they did
 * (OPW097).
 */
export function formerPermissionsAreOwn(
  { asked, declarations, report }: Asking,
  override: readonly string[],
): void {
  const owners = new Map<string, string>();
  for (const [permission, { stored }] of asked)
    if (permission === stored) owners.set(stored, permission);
  for (const [permission, { stored, at }] of asked) {
    const refuse = (message: string): void => report({ code: "OPW097", message, at });
    const said = formerPermissions(declarations, permission);
    if (said.length > 1)
      refuse(`${permission} cannot have been called both ${said.slice(0, 2).join(" and ")}`);
    if (permission === stored) continue;
    const above = override.find(
      (one) =>
        permissionFor(one, resourceOf(stored)) === stored &&
        permissionFor(one, resourceOf(permission)) !== permission,
    );
    const other = above ?? owners.get(stored);
    if (other !== undefined)
      refuse(
        `grants of ${permission} are stored as ${stored}, and so are those of ${other}: whoever was granted one would have both`,
      );
    owners.set(stored, permission);
    if ((resourceOf(permission) === "platform") !== (resourceOf(stored) === "platform"))
      refuse(
        `${permission} cannot have been called ${stored}: only grants that hold everywhere count for permissions of platform`,
      );
  }
}
