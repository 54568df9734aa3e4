// Where whatever belongs to no tenant belongs.

/** The tenant of requests that belong to no other: all of them in a service without tenants. */
export const defaultTenant = "default";
