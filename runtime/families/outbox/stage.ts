// Staging an integration event in the transaction of the operation that caused it (service.md "Integration events (outbox)").
import type { ExecutionContext } from "../../operations/context.js";
import { uuidv7 } from "../../contract/uuid.js";
import { outboxStore } from "../../ports/outbox.js";

/** Puts an event into the outbox: it is delivered once the transaction has committed, and not at all where it does not. */
export async function stage(
  context: ExecutionContext,
  name: string,
  payload: unknown,
  id: string = uuidv7(),
): Promise<void> {
  const event = {
    id,
    name,
    payload: context.resources.sealer.seal(JSON.stringify(payload), id),
    tenant: context.tenant,
    createdAt: Date.now(),
  };
  await context.transaction.of(outboxStore).add(event);
  await context.resources.staged(context, event);
  context.whenCommitted(() => context.resources.wake(outboxStore));
}
