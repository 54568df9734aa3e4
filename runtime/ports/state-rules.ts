// Which values of a field may follow each other (registry "states").
import type { Reading } from "./document-spec.js";

/** The states of a document. */
export interface StateRules {
  readonly field: string;
  /** States that new documents may have. */
  readonly initial: readonly string[];
  /**
   * By each state those that may follow it, with what is asked of whoever makes the move; null if
   * nothing is.
   */
  readonly from: Readonly<
    Record<string, Readonly<Record<string, (() => readonly Reading[]) | null>>>
  >;
}
