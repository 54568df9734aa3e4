// The audit log: who did what to whom, with which outcome; authentication and administration (OWASP
// Logging Cheat Sheet).
import { ServiceError } from "../contract/errors.js";
import type { ExecutionContext } from "../operations/context.js";
import type { Identity } from "../operations/identity.js";
import type { Log } from "../ports/log.js";

/**
 * Writes one entry, `{"audit": {…}}` at the level info. `members` are those of the input that are
 * named; `outcome` is "ok", or the error, of which the code is kept.
 */
export function audit(
  log: Log,
  members: readonly string[],
  context: ExecutionContext,
  input: unknown,
  outcome: unknown,
): void {
  const given = (input ?? {}) as Readonly<Record<string, unknown>>;
  const named = members
    .filter((name) => Object.hasOwn(given, name))
    .map((name) => [name, given[name]] as const);
  const { operationId, identity, tenant, metadata, notes } = context;
  const code = outcome instanceof ServiceError ? outcome.code : "core.internal";
  log.info(
    {
      audit: {
        operation: operationId,
        outcome: outcome === "ok" ? "ok" : code,
        caller: identity?.principalId ?? null,
        actor: identity?.actorId ?? null,
        credential: identity === null ? null : credentialOf(identity),
        tenant: identity === null ? null : tenant,
        address: context.clientAddress(),
        request_id: metadata.requestId,
        ...Object.fromEntries(named),
        ...notes,
      },
    },
    "audit",
  );
}

/** What the caller has shown: some operations only take a session. */
function credentialOf({ sessionId }: Identity): "session" | "api_key" {
  return sessionId === null ? "api_key" : "session";
}
