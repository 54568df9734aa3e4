// The port of tenants: tenants, memberships, grants (service.md "Tenant membership and active
// tenant").
import { storeKey } from "./store-key.js";

export interface Tenant {
  readonly id: string;
  /** A unique name. */
  readonly key: string;
  readonly isActive: boolean;
}

/** A member of a tenant, with the permissions and roles that it was granted there itself. */
export interface TenantMember {
  readonly principalId: string;
  readonly login: string;
  readonly grants: readonly string[];
}

/** The key of the store of tenants and memberships: `transaction.of(tenantStore)`. */
export const tenantStore = storeKey<TenantStore>("tenants");

/** Tenants within one transaction. */
export interface TenantStore {
  /** Adds a tenant; false if its key is taken. */
  addTenant(tenant: Tenant): Promise<boolean>;
  findTenant(id: string): Promise<Tenant | null>;
  findTenantByKey(key: string): Promise<Tenant | null>;
  /** Makes a tenant inactive, or active again; false if there is none. */
  setTenantActive(id: string, isActive: boolean): Promise<boolean>;
  /** Up to `limit` tenants in the order of their keys, beginning after the key `after`. */
  listTenants(after: string | undefined, limit: number): Promise<readonly Tenant[]>;
  /** Makes a principal a member; does nothing if it is one. */
  addMember(tenantId: string, principalId: string): Promise<void>;
  /**
   * Ends a membership with its permissions, and the sessions and API keys in the tenant that belong
   * to the principal or with which it acts for others, so that somebody who is invited again starts
   * afresh. The principal is locked first, as wherever it is given something. False if there was no
   * membership.
   */
  removeMember(tenantId: string, principalId: string, now: number): Promise<boolean>;
  isMember(tenantId: string, principalId: string): Promise<boolean>;
  /** The ids of the tenant's principals, in order. */
  listMembers(tenantId: string): Promise<readonly string[]>;
  /** Up to `limit` members in the order of their ids, beginning after the id `after`. */
  listMemberPage(
    tenantId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly TenantMember[]>;
  /** Until the transaction ends, nobody else passes here for the same tenant. */
  holdMembers(tenantId: string): Promise<void>;
  /** Whether another principal was granted the permission itself, in this tenant. */
  hasOtherHolder(tenantId: string, permission: string, principalId: string): Promise<boolean>;
  /** The active tenants of a principal, in the order of their keys. */
  listMemberships(principalId: string): Promise<readonly Tenant[]>;
  /**
   * Grants a permission to a principal (its id) or to a role (`role:<name>`), within a tenant or,
   * if that is null, everywhere. A permission may itself be a role: whoever has it has all
   * permissions of the role.
   */
  grant(tenantId: string | null, subject: string, permission: string): Promise<void>;
  /** Takes a permission away; false if it wasn't granted. */
  revoke(tenantId: string | null, subject: string, permission: string): Promise<boolean>;
  /** All that was granted within a tenant or, if that is null, everywhere. */
  listAllGrants(
    tenantId: string | null,
  ): Promise<readonly { readonly subject: string; readonly permission: string }[]>;
  /** Permissions that were granted to the subject itself, not through roles, in order. */
  listGrants(tenantId: string | null, subject: string): Promise<readonly string[]>;
  /**
   * Whether the principal has one of the permissions, itself or through roles, within the tenant or
   * everywhere.
   */
  hasGrant(
    tenantId: string | null,
    principalId: string,
    permissions: readonly string[],
  ): Promise<boolean>;
}
