// The port of tenants: tenants, memberships, grants (service.md "Tenant membership and active tenant").

export interface Tenant {
  readonly id: string;
  readonly key: string;
  readonly isActive: boolean;
}

/** Tenants within one transaction. */
export interface TenantStore {
  /** Adds a tenant; false where its key is taken. */
  addTenant(tenant: Tenant): Promise<boolean>;
  findTenant(id: string): Promise<Tenant | null>;
  /** Makes a tenant inactive; false where there is none. */
  deactivateTenant(id: string): Promise<boolean>;
  /** Makes a principal a member; one who is already stays so. */
  addMember(tenantId: string, principalId: string): Promise<void>;
  /** Ends a membership and its permissions; false where there was none. */
  removeMember(tenantId: string, principalId: string): Promise<boolean>;
  isMember(tenantId: string, principalId: string): Promise<boolean>;
  /** Principal ids of a tenant, in order. */
  listMembers(tenantId: string): Promise<readonly string[]>;
  /** Active tenants of a principal, by key. */
  listMemberships(principalId: string): Promise<readonly Tenant[]>;
  /** Gives a permission within a tenant, or everywhere where the tenant is null. */
  grant(tenantId: string | null, principalId: string, permission: string): Promise<void>;
  /** Takes a permission away; false where there was none. */
  revoke(tenantId: string | null, principalId: string, permission: string): Promise<boolean>;
  /** Whether the principal has one of the permissions, within the tenant or everywhere. */
  hasGrant(
    tenantId: string | null,
    principalId: string,
    permissions: readonly string[],
  ): Promise<boolean>;
}
