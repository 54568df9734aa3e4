// The port of leases: which process does a periodic job of the service, and how far it is
// (architecture.md "Work is bounded").

/** A lease that has been taken. */
export interface Lease {
  /** What its last holder noted, or null. */
  readonly state: string | null;
}

/**
 * Leases within one transaction. Times are epoch milliseconds of the caller's own clock. Clocks may
 * differ, so work under a lease must be harmless if two processes do it at once.
 */
export interface LeaseStore {
  /**
   * Takes a lease, or extends it, until `until`, a day at most. Null if another holder has it at
   * `now`. Atomic.
   */
  take(name: string, holder: string, now: number, until: number): Promise<Lease | null>;
  /** Notes how far the work is; returns whether the lease is still the holder's. */
  note(name: string, holder: string, state: string | null): Promise<boolean>;
  /**
   * The leases whose names begin with `prefix` and that are held at `now`. Made for some hundreds
   * of leases in all.
   */
  held(prefix: string, now: number): Promise<readonly HeldLease[]>;
  /** Gives a lease up if it is still the holder's. Its state goes with it. */
  drop(name: string, holder: string): Promise<void>;
  /** Removes leases whose names begin with `prefix` and that ended before `before`. */
  prune(prefix: string, before: number): Promise<void>;
}

/** A lease that somebody holds. */
export interface HeldLease extends Lease {
  readonly name: string;
}
