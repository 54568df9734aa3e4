// Who may still act and be told: the conditions under which a principal is heard of at all.

/**
 * The condition that the owner of the webhook `w` isn't inactive. If the service keeps a record of
 * the tenant, it must also be active and the owner a member of it.
 */
export const ownerStands = standsAs(`"principal_id"`);

/** The same of the principal in a column of a row `w` with a tenant. */
export function standsAs(column: string): string {
  return (
    `NOT EXISTS (SELECT 1 FROM "opwright_principals" p WHERE p."id" = w.${column} AND NOT p."is_active") ` +
    `AND NOT EXISTS (SELECT 1 FROM "opwright_tenants" t WHERE t."id" = w."tenant_id" AND (NOT t."is_active" ` +
    `OR NOT EXISTS (SELECT 1 FROM "opwright_memberships" m WHERE m."tenant_id" = t."id" AND m."principal_id" = w.${column})))`
  );
}
