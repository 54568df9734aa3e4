// Whom a piece of work is done for, and when it ends. Engines are told both with everything they do
// (architecture.md "Work is bounded").
import { Lifetime } from "./lifetime.js";
import type { TraceSpan } from "./tracer.js";

/**
 * Whose budgets work uses up, so that no caller takes everything: a principal's, or those of an
 * anonymous caller's address.
 */
export interface Payer {
  readonly key: string;
  /**
   * Anonymous payers have a smaller query budget, and on some engines a smaller share of what runs
   * at a time.
   */
  readonly isAnonymous: boolean;
}

/**
 * One piece of work. If `payer` is null it is the service's own, and goes before that of callers.
 */
export interface Work {
  readonly lifetime: Lifetime;
  readonly payer: Payer | null;
  /** What it is a part of in a trace; nothing if left out. */
  readonly trace?: TraceSpan | null | undefined;
  /**
   * Whether a replica may answer what it reads, if it has all that was acknowledged before: never
   * for what decides on a write, or on who may see what.
   */
  readonly takesReplica?: boolean;
}

/** How long the service's own reads may take, in milliseconds. */
const ownMillis = 10_000;

/** Work of the service itself, which ends after so many milliseconds. */
export function ofService(millis = ownMillis): Work {
  return { lifetime: Lifetime.within(millis), payer: null };
}

/** How much work runs and waits now; and how much was refused or had to wait, since the start. */
export interface BulkheadState {
  /** How much may run at a time. */
  readonly limit: number;
  readonly running: number;
  readonly waiting: number;
  readonly refused: number;
  readonly waited: number;
  /** Milliseconds that work has waited, in total. */
  readonly waitedMillis: number;
}
