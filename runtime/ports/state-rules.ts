// Which values of a field may follow each other (registry "states").

/** A step of the policy of a move. The type of its context belongs to the families. */
export interface MoveStep {
  /** What it asks of the caller; see `PhaseHook`. */
  readonly asks?: string;
  run(input: unknown, context: never): unknown;
}

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
    Record<string, Readonly<Record<string, (() => readonly MoveStep[]) | null>>>
  >;
}
