// The port that keeps the results of requests with an Idempotency-Key (decisions.md "Idempotency").

/** The stored answer to one request. `body` is JSON text, null for an answer without a body. */
export interface IdempotencyRecord {
  /** Tenant, principal, operation and key, joined unambiguously. */
  readonly scope: string;
  /** Hash of the canonical arguments. */
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string | null;
  /**
   * The shape in which the body was kept (operations/kept-values.ts); null if an earlier version of
   * opwright has.
   */
  readonly shape: string | null;
  readonly etag: string | null;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Stored answers within one transaction; what it saves commits with that transaction. */
export interface IdempotencyStore {
  /**
   * The record of the scope; null if there is none, or it has expired at `now` (epoch
   * milliseconds).
   */
  find(scope: string, now: number): Promise<IdempotencyRecord | null>;
  /** Saves a record, in place of an expired one. */
  save(record: IdempotencyRecord): Promise<void>;
  /** Deletes up to `limit` records that have expired at `now`; returns how many. */
  prune(now: number, limit: number): Promise<number>;
}
