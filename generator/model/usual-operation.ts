// What an operation is unless its family says otherwise. registry.json leaves these values out, and
// has the rest in this order.
import type { OperationModel } from "./registry.js";

export const usualOperation = {
  description: null,
  hooks: [],
  transaction: "write",
  idempotencyKey: false,
  isSerializable: false,
  retries: 0,
  isConditional: false,
  tokens: null,
  leadsTo: [],
  isSensitive: false,
  deprecated: null,
  requiresAuthn: false,
  ignoresCredentials: false,
  route: null,
  audit: null,
  effect: "changes",
  eachHooks: [],
  isTool: true,
  declares: "nothing",
  lists: null,
  queries: null,
  adds: null,
  emits: [],
  errors: [],
  extensions: {},
} as const satisfies Partial<OperationModel>;
