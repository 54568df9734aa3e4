// Attempts at passwords, counted in this process.
import { createHash } from "node:crypto";
import { RateLimiterMemory } from "rate-limiter-flexible";
import type { LoginThrottle, LoginThrottleLimits } from "../../authn/login-throttle.js";

/** A throttle whose counts end with the process and are not shared between processes. */
export function memoryLoginThrottle(limits: LoginThrottleLimits): LoginThrottle {
  const duration = limits.windowSeconds;
  const ofAddress = new RateLimiterMemory({ points: limits.perAddress, duration });
  const ofLogin = new RateLimiterMemory({ points: limits.perLogin, duration });
  return {
    // The address comes first: what it may try bounds how many logins are kept.
    take: async (address, login) =>
      (await consumes(ofAddress, address)) && (await consumes(ofLogin, keyOf(address, login))),
    async giveBack(address, login) {
      await ofAddress.reward(address);
      await ofLogin.delete(keyOf(address, login));
    },
  };
}

/** One length for logins of any length. */
function keyOf(address: string, login: string): string {
  return createHash("sha256").update(`${address}\0${login}`).digest("base64url");
}

/** The library rejects with its state where nothing is left, and with an error where it failed. */
function consumes(limiter: RateLimiterMemory, key: string): Promise<boolean> {
  return limiter.consume(key).then(
    () => true,
    (reason: unknown) => {
      if (reason instanceof Error) throw reason;
      return false;
    },
  );
}
