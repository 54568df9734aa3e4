// What a deployment chooses about identity.
import type { AttemptLimits } from "../../operations/attempts.js";
import type { SettingsSource } from "../../operations/family.js";
import type { IdentitySpec } from "./spec.js";

export interface IdentitySettings {
  /** Keys of access tokens: the first signs, all verify. Empty if an external signer holds them. */
  readonly accessTokenKeys: readonly Buffer[];
  /** Peppers of refresh tokens: new digests use the first, lookups try all. */
  readonly refreshPeppers: readonly Buffer[];
  /** Peppers of reset tokens: new digests use the first, lookups try all. */
  readonly resetPeppers: readonly Buffer[];
  /** Attempts at passwords in a window; one more is 429. */
  readonly loginAttempts: AttemptLimits;
  readonly resetAttempts: AttemptLimits;
  /** Registrations, including mails that are sent again. */
  readonly signUpAttempts: AttemptLimits;
}

/**
 * Reads them. The secrets must be set in production, also by a service that has no identity yet.
 */
export function readIdentitySettings(
  spec: IdentitySpec | undefined,
  { environment, secrets }: SettingsSource,
): IdentitySettings {
  return {
    accessTokenKeys:
      spec?.signer === undefined ? secrets.read("SECRETS_ACCESS_TOKEN", spec?.algorithm) : [],
    refreshPeppers: secrets.read("SECRETS_REFRESH_PEPPER"),
    resetPeppers: secrets.read("SECRETS_RESET_PEPPER"),
    loginAttempts: {
      perLogin: environment.integer("LOGIN_ATTEMPTS", 10, 1, 1_000_000),
      perAddress: environment.integer("LOGIN_ATTEMPTS_PER_ADDRESS", 300, 1, 1_000_000),
      windowSeconds: environment.integer("LOGIN_WINDOW_SECONDS", 900, 1, 86_400),
    },
    resetAttempts: {
      perLogin: environment.integer("RESET_ATTEMPTS", 5, 1, 1_000_000),
      perAddress: environment.integer("RESET_ATTEMPTS_PER_ADDRESS", 60, 1, 1_000_000),
      windowSeconds: environment.integer("RESET_WINDOW_SECONDS", 3_600, 1, 86_400),
    },
    signUpAttempts: {
      perLogin: environment.integer("SIGN_UP_ATTEMPTS", 5, 1, 1_000_000),
      perAddress: environment.integer("SIGN_UP_ATTEMPTS_PER_ADDRESS", 60, 1, 1_000_000),
      windowSeconds: environment.integer("SIGN_UP_WINDOW_SECONDS", 3_600, 1, 86_400),
    },
  };
}
