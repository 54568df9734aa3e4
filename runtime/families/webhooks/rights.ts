// Who may hear an event: whoever passes the policy of webhooks and the event's own, now and as the
// owner of the webhook.
import { ServiceError } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { runHeld } from "../../operations/held-calls.js";
import type { WaitingWebhook } from "../../ports/webhooks.js";
import type { WebhooksSpec } from "./spec.js";

/**
 * Why the owner of a webhook may not hear an event in the context's tenant; null if it may. The
 * hooks run as they would for the owner with a session, so a refusal is one that it would get.
 * Rejects if a hook fails otherwise.
 */
export async function refusalOf(
  { guard, events, hasTenancy }: WebhooksSpec,
  context: ExecutionContext,
  principalId: string,
  event: string,
): Promise<string | null> {
  const owner = context.onBehalfOf(principalId, hasTenancy ? context.tenant : null);
  try {
    for (const { run } of [...guard, ...(events[event] ?? [])])
      await runHeld(owner, run, (own) => run(undefined, own));
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    const missing: unknown = error.context?.["missing"];
    return `its owner may not hear the event: ${typeof missing === "string" ? `${missing} is missing` : error.code}`;
  }
}

/**
 * Those of some webhooks whose owners may hear an event. Where a hook fails, the delivery asks
 * again.
 */
export async function findHearers<Each extends WaitingWebhook>(
  spec: WebhooksSpec,
  context: ExecutionContext,
  webhooks: readonly Each[],
  event: string,
): Promise<readonly Each[]> {
  const known = new Map<string, boolean>();
  for (const { principalId } of webhooks) {
    if (known.has(principalId)) continue;
    try {
      const refusal = await context.transaction.attempt(() =>
        refusalOf(spec, context, principalId, event),
      );
      known.set(principalId, refusal === null);
    } catch (err) {
      context.log.warn({ err, event }, "whether a webhook may hear an event is asked again later");
      known.set(principalId, true);
    }
  }
  return webhooks.filter(({ principalId }) => known.get(principalId) === true);
}
