// The port of rate limits: so many in a window, counted by key (service.md "Further rules").

/** How many fit into a window. */
export interface RateRule {
  /** Rules with one name share their counts. */
  readonly name: string;
  readonly points: number;
  readonly windowSeconds: number;
}

export interface RateLimiter {
  /** Takes one for the key; where none is left, says in how many seconds there is. */
  take(
    rule: RateRule,
    key: string,
  ): Promise<{ readonly isAllowed: boolean; readonly retryAfterSeconds: number }>;
  /** Gives one back. */
  giveBack(rule: RateRule, key: string): Promise<void>;
  /** Forgets what was taken for the key. */
  forget(rule: RateRule, key: string): Promise<void>;
}
