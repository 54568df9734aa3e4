// The audit log: who did what to whom, with which outcome; authentication and administration (OWASP
// Logging Cheat Sheet).
import { ServiceError } from "../contract/errors.js";
import type { ExecutionContext } from "../operations/context.js";
import { credentialOf } from "../operations/identity.js";
import { toldOf } from "../operations/recorded.js";
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
  const { operationId, identity, tenant, metadata, notes } = context;
  const code = outcome instanceof ServiceError ? outcome.code : "core.internal";
  log.info(
    {
      audit: {
        operation: operationId,
        outcome: outcome === "ok" ? "ok" : code,
        caller: identity?.principalId ?? null,
        actor: identity?.actorId ?? null,
        credential: credentialOf(identity),
        tenant: identity === null ? null : tenant,
        address: context.clientAddress(),
        request_id: metadata.requestId,
        ...toldOf(members, input),
        ...notes,
      },
    },
    "audit",
  );
}
