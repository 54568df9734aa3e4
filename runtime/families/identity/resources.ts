// What identity works with in a running service: keys, and counts of attempts (service.md "Keys and
// secrets").
import { attempts, type Attempts } from "../../operations/attempts.js";
import { openedAs, type OpenedResource, type Opening } from "../../operations/family.js";
import { hmacSigner } from "../../operations/hmac-signer.js";
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
  /** Attempts at passwords. */
  readonly loginAttempts: Attempts;
  /** Requests of password resets. */
  readonly resetAttempts: Attempts;
}

export const identityResources = resourceKey<IdentityResources>("identity");

/** Makes them, with the keys of the external signer or those of the settings. */
export async function openIdentity(
  spec: IdentitySpec,
  { name, clock, limiter }: Opening,
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
      loginAttempts: attempts(limiter, "login", settings.loginAttempts, "address"),
      resetAttempts: attempts(limiter, "reset", settings.resetAttempts, "anywhere"),
    }),
  ];
}
