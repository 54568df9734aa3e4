// What a deployment chooses about identity.
import type { AttemptLimits } from "../../operations/attempts.js";
import type { SettingsSource } from "../../operations/family.js";

/** Registrations, including mails that are sent again, in a window; one more is 429. */
export function readSignUpLimits({ environment }: SettingsSource): AttemptLimits {
  return {
    perLogin: environment.integer("SIGN_UP_ATTEMPTS", 5, 1, 1_000_000),
    perAddress: environment.integer("SIGN_UP_ATTEMPTS_PER_ADDRESS", 60, 1, 1_000_000),
    windowSeconds: environment.integer("SIGN_UP_WINDOW_SECONDS", 3_600, 1, 86_400),
  };
}
