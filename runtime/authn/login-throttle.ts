// The port that counts attempts at passwords (service.md "Login and credential rules", decisions.md "Throttle").

/**
 * Counts attempts per address, and per login from an address: an attacker elsewhere does not lock a login out. A refusal
 * is silent; the operation does the same work and gives the same 401.
 */
export interface LoginThrottle {
  /** Counts an attempt; false where the address, or the login from there, has none left for now. */
  take(address: string, login: string): Promise<boolean>;
  /** The attempt was right: the address gets it back, and the login starts afresh from there. */
  giveBack(address: string, login: string): Promise<void>;
}

/** How many attempts fit into a window. */
export interface LoginThrottleLimits {
  readonly perLogin: number;
  readonly perAddress: number;
  readonly windowSeconds: number;
}
