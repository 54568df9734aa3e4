// The port of API keys (service.md "API key", decisions.md "Authentication, API keys, tenancy").
import type { Trust } from "./identity.js";
import { storeKey } from "./store-key.js";

/** A key as it is stored, without its secret. Times are epoch milliseconds. */
export interface ApiKey {
  readonly id: string;
  readonly principalId: string;
  /** The principal that acts with the key for `principalId`, or null. */
  readonly actorId: string | null;
  readonly tenant: string | null;
  /** SHA-256 of the secret. */
  readonly digest: string;
  /** What every key of the service begins with. */
  readonly prefix: string;
  /**
   * The secret's first and last characters around an ellipsis, so that people can tell keys apart.
   */
  readonly hint: string;
  readonly label: string | null;
  /** The stored names of the permissions that it is for; null for all of its principal's. */
  readonly scopes: readonly string[] | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
}

/** What is checked on each request with a key, and when it was last used. */
export type KeyTrust = Trust & Pick<ApiKey, "lastUsedAt" | "scopes">;

/** The key of the store below. */
export const apiKeyStore = storeKey<ApiKeyStore>("apiKeys");

/** API keys within one transaction. */
export interface ApiKeyStore {
  /** Adds a key; false if another one has its id or its secret. */
  add(key: ApiKey): Promise<boolean>;
  /**
   * Removes revoked and expired keys of a principal except the newest `most`; returns how many
   * valid keys there are. Until the transaction ends, nobody else counts them, so that a cap on
   * them holds.
   */
  limit(principalId: string, now: number, most: number): Promise<number>;
  /** Removes up to `limit` keys that were revoked or expired before `before`; returns how many. */
  prune(before: number, limit: number): Promise<number>;
  /** Keys of a principal that are not revoked, expired ones included, oldest first. */
  list(principalId: string): Promise<readonly ApiKey[]>;
  /** Revokes a key of the principal; false if it has no such key, or has revoked it before. */
  revoke(principalId: string, id: string, now: number): Promise<boolean>;
  /** What is checked of keys by their digests; those that are unknown are left out. */
  trusts(digests: readonly string[], now: number): Promise<ReadonlyMap<string, KeyTrust>>;
  /** Notes that a key was used at `now`. */
  noteUse(id: string, now: number): Promise<void>;
}
