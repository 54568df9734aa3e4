// What identity works with in a running service: keys, and counts of attempts (service.md "Keys and
// secrets").
import { isUuid } from "../../contract/uuid.js";
import { attempts, type Attempts } from "../../operations/attempts.js";
import { openedAs, type OpenedResource, type Opening } from "../../operations/family.js";
import { hmacSigner } from "../../operations/hmac-signer.js";
import { apiKeyStore, type KeyTrust } from "../../ports/api-keys.js";
import type { Database, Transaction } from "../../ports/database.js";
import { identityStore, type Trust } from "../../ports/identity.js";
import type { Work } from "../../ports/work.js";
import { gatherReads } from "../../work/gather-reads.js";
import { resourceKey } from "../../ports/resource-key.js";
import type { Signer } from "../../ports/signer.js";
import type { TokenIssuer } from "../../ports/tokens.js";
import { tokenIssuer } from "./access-token.js";
import { externalTokenKeys } from "./external-keys.js";
import type { IdentitySettings } from "./settings.js";
import type { IdentitySpec } from "./spec.js";
import { localTokenKeys } from "../../operations/token-keys.js";

/** What is checked of a credential on each request; null for one that is unknown. */
type TrustOf<Found> = (key: string, work: Omit<Work, "payer">) => Promise<Found | null>;

export interface IdentityResources {
  readonly tokens: TokenIssuer;
  /** Peppers the digests of refresh tokens. */
  readonly refresh: Signer;
  /** Peppers the digests of reset tokens. */
  readonly reset: Signer;
  /** By a session's id. */
  readonly trustOfSession: TrustOf<Trust>;
  /** By an API key's digest. */
  readonly trustOfKey: TrustOf<KeyTrust>;
  /** Attempts at passwords. */
  readonly loginAttempts: Attempts;
  /** Requests of password resets. */
  readonly resetAttempts: Attempts;
}

/**
 * Makes what reads credentials for requests: those that come in one turn are one query. A request
 * that is traced asks by itself, so that its trace has the query. It is the service's own work:
 * callers who use up their connections can't block it.
 */
function gatherTrusts<Found>(
  database: Database,
  read: (transaction: Transaction, keys: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): TrustOf<Found> {
  const gathered = gatherReads((keys, lifetime) =>
    read(database.read({ lifetime, payer: null }), keys),
  );
  return async (key, { lifetime, trace }) => {
    if ((trace ?? null) === null) return (await gathered(key, lifetime)) ?? null;
    const found = await read(database.read({ lifetime, trace, payer: null }), [key]);
    return found.get(key) ?? null;
  };
}

export const identityResources = resourceKey<IdentityResources>("identity");

/** Makes them, with the keys of the external signer or those of the settings. */
export async function openIdentity(
  spec: IdentitySpec,
  { name, clock, limiter, database }: Opening,
  settings: IdentitySettings,
): Promise<readonly OpenedResource[]> {
  const { algorithm = "HS256", signer, issuer = name, alsoIssuers } = spec;
  const keys =
    signer === undefined
      ? await localTokenKeys(algorithm, settings.accessTokenKeys)
      : externalTokenKeys(algorithm, signer);
  const trustOfSession = gatherTrusts(database, (transaction, ids) =>
    transaction.of(identityStore).trusts(ids),
  );
  return [
    openedAs(identityResources, {
      tokens: tokenIssuer(algorithm, keys, issuer, clock, alsoIssuers),
      refresh: hmacSigner(settings.refreshPeppers),
      reset: hmacSigner(settings.resetPeppers),
      // A text that is no id would fail the query of the others.
      trustOfSession: async (id, work) => (isUuid(id) ? trustOfSession(id, work) : null),
      trustOfKey: gatherTrusts(database, (transaction, digests) =>
        transaction.of(apiKeyStore).trusts(digests, clock.now()),
      ),
      loginAttempts: attempts(limiter, "login", settings.loginAttempts, "address"),
      resetAttempts: attempts(limiter, "reset", settings.resetAttempts, "anywhere"),
    }),
  ];
}
