// The port of invitations: who may become a member of a tenant, once a mailed token comes back.
import { storeKey } from "./store-key.js";

export interface Invitation {
  readonly id: string;
  readonly tenant: string;
  /** Where its token was mailed to, in the one canonical form of logins. */
  readonly login: string;
  /** The roles that whoever accepts it gets. */
  readonly roles: readonly string[];
  /** The principal that invites. */
  readonly invitedBy: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** The key of the store below. */
export const invitationStore = storeKey<InvitationStore>("invitations");

/** Invitations within one transaction. `now` and `before` are epoch milliseconds. */
export interface InvitationStore {
  /** The open invitations of a login, in all tenants. */
  listTo(login: string, now: number): Promise<readonly Invitation[]>;
  /** Makes this the invitation of its login to its tenant, in place of an earlier one. */
  put(invitation: Invitation & { readonly digest: string }): Promise<void>;
  /**
   * How many others than that of a login a tenant has that have not expired. Until the transaction
   * ends, nobody else counts those of the tenant.
   */
  countOthers(tenant: string, login: string, now: number): Promise<number>;
  /** Those of a tenant that have not expired, oldest first. */
  list(tenant: string, now: number): Promise<readonly Invitation[]>;
  /** The one of a login to a tenant that has not expired, or null. */
  findOf(tenant: string, login: string, now: number): Promise<Invitation | null>;
  /** Removes those that a principal has sent, to one tenant or to all. */
  removeOf(invitedBy: string, tenant: string | null): Promise<void>;
  /** Removes those to a login, of all tenants; returns how many. */
  removeTo(login: string): Promise<number>;
  /** Removes one of a tenant and returns it; null if there is none. */
  remove(tenant: string, id: string): Promise<Invitation | null>;
  /** The one with one of the digests that has not expired, or null. */
  find(digests: readonly string[], now: number): Promise<Invitation | null>;
  /** As `find`, and removes it. Atomic. */
  take(digests: readonly string[], now: number): Promise<Invitation | null>;
  /** Removes up to `limit` that expired before a time; returns how many. */
  prune(before: number, limit: number): Promise<number>;
}
