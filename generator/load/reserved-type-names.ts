// Names of types that generated modules have for themselves.

/** Names that emitted modules and documents have already. */
export const reservedTypeNames: readonly string[] = [
  "BoundInput",
  "ErrorEnvelope",
  "Handler",
  "HookFunctions",
  "MediaAnswer",
  "ReplyingHandler",
];
