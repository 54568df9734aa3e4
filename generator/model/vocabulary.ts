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

export type HookPhaseName = (typeof hookPhases)[number];
export type RouteStyle = "rest" | "rpc";
export type SigningAlgorithm = "HS256" | "RS256" | "ES256" | "EdDSA";
