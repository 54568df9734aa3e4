// The port of leases: which process does a periodic work of the service, and how far it is (architecture.md "Work is bounded").

/** A lease that has been taken. */
export interface Lease {
  /** What its last holder noted, or null. */
  readonly state: string | null;
}

/**
 * Leases within one transaction. Times are epoch milliseconds of the caller's own clock: work under a lease must be
 * harmless where two processes do it at once, for their clocks may differ.
 */
export interface LeaseStore {
  /** Takes a lease, or keeps it, until `until`; null where another holder has it at `now`. Atomic. */
  take(name: string, holder: string, now: number, until: number): Promise<Lease | null>;
  /** Notes how far the work is; says whether the lease is still the holder's. */
  note(name: string, holder: string, state: string | null): Promise<boolean>;
  /** The leases whose names begin so and that are held at `now`. There may be some hundreds of leases in all. */
  held(prefix: string, now: number): Promise<readonly HeldLease[]>;
  /** Gives a lease up, if it is still the holder's. */
  drop(name: string, holder: string): Promise<void>;
  /** Removes leases whose names begin so and that ran out before a time. */
  prune(prefix: string, before: number): Promise<void>;
}

/** A lease that somebody holds. */
export interface HeldLease extends Lease {
  readonly name: string;
}
