// Terms that registries, models and generated code share.

/** Phases of hooks in the order in which they run. */
export const hookPhases = [
  "before",
  "wrap",
  "tx_before",
  "tx_after",
  "after_commit",
  "on_success",
  "on_failure",
  "finally",
] as const;

/** Phases in which a hook can still refuse: nothing has been committed, and nothing answered. */
export const refusingPhases: readonly string[] = ["before", "wrap", "tx_before", "tx_after"];

export type HookPhaseName = (typeof hookPhases)[number];
export type RouteStyle = "rest" | "rpc";
export type SigningAlgorithm = "HS256" | "RS256" | "ES256" | "EdDSA";
