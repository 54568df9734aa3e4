// Attempts that are limited silently: at passwords, and at resets
// (service.md "Login and credential rules", decisions.md "Throttle").
import type { RateLimiter } from "../ports/rate-limiter.js";

/** How many attempts fit into a window. */
export interface AttemptLimits {
  readonly perLogin: number;
  readonly perAddress: number;
  readonly windowSeconds: number;
}

export type AttemptsLeft = "some" | "none for the login" | "none for the address";

/** A refusal is silent: the operation does the same work and answers the same. */
export interface Attempts {
  /** Counts an attempt, and says whether the address and the login had one left. */
  take(address: string, login: string): Promise<AttemptsLeft>;
  /** The attempt succeeded: the address gets it back, and the count of the login starts again. */
  giveBack(address: string, login: string): Promise<void>;
}

/**
 * Attempts of one kind, per address and per login. With `perLoginFrom: "address"` each address has
 * a count of its own for a login, so that an attacker elsewhere does not lock it out; with
 * `"anywhere"` there is one count for all.
 */
export function attempts(
  limiter: RateLimiter,
  kind: string,
  { perLogin, perAddress, windowSeconds }: AttemptLimits,
  perLoginFrom: "address" | "anywhere",
): Attempts {
  const ofAddress = { name: `${kind} by address`, points: perAddress, windowSeconds };
  const ofLogin = { name: `${kind} by login`, points: perLogin, windowSeconds };
  const key = (address: string, login: string): string =>
    perLoginFrom === "address" ? `${address}\0${login}` : login;
  return {
    // The address comes first, because its limit bounds how many logins are counted.
    async take(address, login) {
      if (!(await limiter.take(ofAddress, address)).isAllowed) return "none for the address";
      const { isAllowed } = await limiter.take(ofLogin, key(address, login));
      return isAllowed ? "some" : "none for the login";
    },
    async giveBack(address, login) {
      await limiter.giveBack(ofAddress, address);
      await limiter.forget(ofLogin, key(address, login));
    },
  };
}
