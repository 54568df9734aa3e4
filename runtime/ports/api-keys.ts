// The port of API keys (service.md "API key", decisions.md "Authentication, API keys, tenancy").
import type { Trust } from "./identity.js";
import { storeKey } from "./store-key.js";

/** A key as it is kept: never the secret itself. Times are epoch milliseconds. */
export interface ApiKey {
  readonly id: string;
  readonly principalId: string;
  /** Who acts with the key for the principal, or null. */
  readonly actorId: string | null;
  readonly tenant: string | null;
  /** SHA-256 of the secret. */
  readonly digest: string;
  /** What every key of the service begins with. */
  readonly prefix: string;
  /** First characters, an ellipsis, last characters. */
  readonly hint: string;
  readonly label: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
}

/** The key of the store below. */
export const apiKeyStore = storeKey<ApiKeyStore>("apiKeys");

/** API keys within one transaction. */
export interface ApiKeyStore {
  add(key: ApiKey): Promise<void>;
  /** Removes keys of a principal that are revoked or have run out, but for the newest `most`; says how many keys are good. */
  limit(principalId: string, now: number, most: number): Promise<number>;
  /** Removes up to `limit` keys that were revoked or ran out before `before`; returns how many. */
  prune(before: number, limit: number): Promise<number>;
  /** Keys of a principal that are not revoked, oldest first. */
  list(principalId: string): Promise<readonly ApiKey[]>;
  /** Revokes a key of the principal; false where it has no such key. */
  revoke(principalId: string, id: string, now: number): Promise<boolean>;
  /** What the boundary asks of a key, and when it was last used. */
  trust(
    digest: string,
    now: number,
  ): Promise<(Trust & { readonly lastUsedAt: number | null }) | null>;
  noteUse(id: string, now: number): Promise<void>;
}
