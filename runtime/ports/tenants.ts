// The port of tenants: tenants, memberships, grants (service.md "Tenant membership and active tenant").
import { storeKey } from "./store-key.js";

export interface Tenant {
  readonly id: string;
  readonly key: string;
  readonly isActive: boolean;
}

/** The key of the store below. */
export const tenantStore = storeKey<TenantStore>("tenants");

/** Tenants within one transaction. */
export interface TenantStore {
  /** Adds a tenant; false where its key is taken. */
  addTenant(tenant: Tenant): Promise<boolean>;
  findTenant(id: string): Promise<Tenant | null>;
  findTenantByKey(key: string): Promise<Tenant | null>;
  /** Makes a tenant inactive, or active again; false where there is none. */
  setTenantActive(id: string, isActive: boolean): Promise<boolean>;
  /** Tenants by key, from behind one of them. */
  listTenants(after: string | undefined, limit: number): Promise<readonly Tenant[]>;
  /** Makes a principal a member; one who is already stays so. */
  addMember(tenantId: string, principalId: string): Promise<void>;
  /**
   * Ends a membership with its permissions, and the sessions and API keys that the principal, or somebody for whom it
   * acts, has in the tenant: who is invited again starts afresh. False where there was none.
   */
  removeMember(tenantId: string, principalId: string, now: number): Promise<boolean>;
  isMember(tenantId: string, principalId: string): Promise<boolean>;
  /** Principal ids of a tenant, in order. */
  listMembers(tenantId: string): Promise<readonly string[]>;
  /** Active tenants of a principal, by key. */
  listMemberships(principalId: string): Promise<readonly Tenant[]>;
  /**
   * Gives a permission to a principal (its id) or to a role (`role:<name>`), within a tenant or, where that is null,
   * everywhere. A permission may be a role: who has it has what the role has.
   */
  grant(tenantId: string | null, subject: string, permission: string): Promise<void>;
  /** Takes a permission away; false where there was none. */
  revoke(tenantId: string | null, subject: string, permission: string): Promise<boolean>;
  /** Permissions that were given to the subject itself, in order. */
  listGrants(tenantId: string | null, subject: string): Promise<readonly string[]>;
  /** Whether the principal has one of the permissions, itself or by roles, within the tenant or everywhere. */
  hasGrant(
    tenantId: string | null,
    principalId: string,
    permissions: readonly string[],
  ): Promise<boolean>;
}
