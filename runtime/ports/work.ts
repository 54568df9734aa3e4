// Whose a piece of work is, and when it ends: what engines are told of everything they do (architecture.md "Work is bounded").
import { Lifetime } from "./lifetime.js";

/** Who pays for work: a principal, or the address of who is not signed in. */
export interface Payer {
  readonly key: string;
  /** Anonymous payers have a smaller purse and a smaller share. */
  readonly isAnonymous: boolean;
}

/** One piece of work. Without a payer it is the service's own, which has what callers cannot take. */
export interface Work {
  readonly lifetime: Lifetime;
  readonly payer: Payer | null;
}

/** How long the service waits for its own reads, in milliseconds. */
const ownMillis = 10_000;

/** Work of the service itself, which it gives up after so many milliseconds. */
export function ofService(millis = ownMillis): Work {
  return { lifetime: Lifetime.within(millis), payer: null };
}

/** Places under way and waiting, and how often a place was refused or waited for. */
export interface BulkheadState {
  readonly running: number;
  readonly waiting: number;
  readonly refused: number;
  readonly waited: number;
  /** Milliseconds that were waited in all. */
  readonly waitedMillis: number;
}
