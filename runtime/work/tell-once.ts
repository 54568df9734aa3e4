// Faults that come again with each attempt are told once for each reason.

export interface Outage {
  /** Tells a fault, unless it is the one that was told last. */
  tell(fault: unknown): void;
  /** It is over: what comes next is told, whatever it is. */
  end(): void;
}

/** Has `tell` called with the first of faults in a row that have one message. */
export function tellOnce(tell: (fault: unknown) => void): Outage {
  let told: string | null = null;
  return {
    tell(fault) {
      const reason = fault instanceof Error ? fault.message : String(fault);
      if (reason !== told) tell(fault);
      told = reason;
    },
    end() {
      told = null;
    },
  };
}
