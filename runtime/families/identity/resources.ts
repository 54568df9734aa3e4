// What identity works with in a running service: keys, and counts of attempts (service.md "Keys and
// secrets").
import { isUuid } from "../../contract/uuid.js";
import { attempts, type Attempts } from "../../operations/attempts.js";
import { openedAs, type OpenedResource, type Opening } from "../../operations/family.js";
import { hmacSigner } from "../../operations/hmac-signer.js";
import type { Database } from "../../ports/database.js";
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

export interface IdentityResources {
  readonly tokens: TokenIssuer;
  /** Peppers the digests of refresh tokens. */
  readonly refresh: Signer;
  /** Peppers the digests of reset tokens. */
  readonly reset: Signer;
  /** What is checked of a session on each request; null if there is none. */
  readonly trustOf: (sessionId: string, work: Omit<Work, "payer">) => Promise<Trust | null>;
  /** Attempts at passwords. */
  readonly loginAttempts: Attempts;
  /** Requests of password resets. */
  readonly resetAttempts: Attempts;
}

/**
 * Makes what reads sessions for requests: those that come in one turn are one query. A request that
 * is traced asks by itself, so that its trace has the query.
 */
function trustReads(database: Database): IdentityResources["trustOf"] {
  const gathered = gatherReads(async (ids, lifetime) => {
    const trusts = await database.read({ lifetime, payer: null }).of(identityStore).trusts(ids);
    return new Map(trusts.map((trust) => [trust.credentialId, trust]));
  });
  return async (sessionId, { lifetime, trace }) => {
    // It would fail the query of the others.
    if (!isUuid(sessionId)) return null;
    if ((trace ?? null) !== null)
      return database.read({ lifetime, trace, payer: null }).of(identityStore).trust(sessionId);
    return (await gathered(sessionId, lifetime)) ?? null;
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
  return [
    openedAs(identityResources, {
      tokens: tokenIssuer(algorithm, keys, issuer, clock, alsoIssuers),
      refresh: hmacSigner(settings.refreshPeppers),
      reset: hmacSigner(settings.resetPeppers),
      trustOf: trustReads(database),
      loginAttempts: attempts(limiter, "login", settings.loginAttempts, "address"),
      resetAttempts: attempts(limiter, "reset", settings.resetAttempts, "anywhere"),
    }),
  ];
}
