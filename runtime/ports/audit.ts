// The port of the audit trail: who has changed what in a tenant, for those who may read it.
import { storeKey } from "./store-key.js";

/** An entry of the trail. */
export interface AuditEntry {
  readonly id: string;
  readonly tenant: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly operation: string;
  readonly requestId: string;
  /** Null for somebody who is not signed in, and for the service itself. */
  readonly principalId: string | null;
  readonly actorId: string | null;
  readonly credential: string | null;
  readonly change: string;
  readonly resource: string | null;
  readonly resourceId: string | null;
  readonly rev: number | null;
  readonly fields: readonly string[];
  /** JSON text of an object. */
  readonly details: string;
}

/** A place in the order of time; the entry need not be there any more. */
export type AuditPosition = Pick<AuditEntry, "at" | "id">;

/** What entries are looked for; what is left out doesn't matter. */
export interface AuditFilter {
  /** Null for all tenants. */
  readonly tenant: string | null;
  readonly operation?: string | undefined;
  readonly principalId?: string | undefined;
  /** Whoever has done it, for themselves or for somebody else. */
  readonly by?: string | undefined;
  readonly resource?: string | undefined;
  readonly resourceId?: string | undefined;
  /** Epoch milliseconds: from here on. */
  readonly since?: number | undefined;
  /** Epoch milliseconds: before it. */
  readonly until?: number | undefined;
}

/** The key of the store below. */
export const auditStore = storeKey<AuditStore>("audit");

/** The audit trail within one transaction. */
export interface AuditStore {
  add(entries: readonly AuditEntry[]): Promise<void>;
  /** Where an entry of a tenant is in the order of time; null if it is not there. */
  positionOf(tenant: string, id: string): Promise<AuditPosition | null>;
  /**
   * Entries by their time, `newest` or oldest first: behind a position, or from the beginning if it
   * is null.
   */
  list(
    filter: AuditFilter,
    page: {
      readonly order: "newest" | "oldest";
      readonly after: AuditPosition | null;
      readonly limit: number;
    },
  ): Promise<readonly AuditEntry[]>;
  /**
   * Empties the details of what somebody has done, for themselves or for somebody else; returns how
   * many entries had some.
   */
  eraseDetails(principalId: string, limit: number): Promise<number>;
  /** Removes so many entries at most that are older; says whether there may be more. */
  prune(before: number, limit: number): Promise<boolean>;
}
