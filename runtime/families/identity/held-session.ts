// The calling session, asked about once more where something is made that outlives it.
import { refusedCredentials } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { sessionOf, type Identity } from "../../operations/identity.js";
import { identityStore } from "../../ports/identity.js";

/**
 * The caller with its session, which is live and stays so until the running write transaction has ended: it may have
 * been revoked since the boundary asked. Throws `core.authentication` where it is not, and what `sessionOf` throws.
 */
export async function heldSession(
  context: ExecutionContext,
): Promise<Identity & { readonly sessionId: string }> {
  const caller = sessionOf(context);
  if (!(await context.transaction.of(identityStore).holdSession(caller.sessionId)))
    throw refusedCredentials();
  return caller;
}
