// The form of permissions and roles: one for the routes and the command line.

const name = "[a-z][a-z0-9_]*";

/** A role as a regular expression's text: `editor`. */
export const rolePattern = `^${name}$`;

/**
 * What may be granted to a principal or a role, as a regular expression's text: `tasks.read`,
 * `admin`, `role:editor`.
 */
export const permissionPattern = `^(?:${name}|${name}\\.${name}|role:${name})$`;

/** What a credential may be for, as a regular expression's text: `tasks.read`, `admin`. */
export const scopePattern = `^(?:${name}|${name}\\.${name})$`;
