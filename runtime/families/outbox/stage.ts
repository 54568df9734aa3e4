// Staging an integration event in the transaction of the operation that caused it (service.md "Integration events (outbox)").
import type { ExecutionContext } from "../../operations/context.js";
import { callWithTurns } from "../../operations/held-calls.js";
import { uuidv7 } from "../../contract/uuid.js";
import { outboxStore } from "../../ports/outbox.js";

/** As `stageEvent` of authors' code does, which has to await it. */
export const stageHeld: typeof stage = (context, name, payload) =>
  callWithTurns(context, "stageEvent", () => stage(context, name, payload));

/** Puts an event into the outbox: it is delivered once the transaction has committed, and never if it is undone. */
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
    createdAt: context.clock.now(),
  };
  await context.transaction.of(outboxStore).add(event);
  await context.resources.staged(context, event);
  context.follow(() => {
    const { observer, wake } = context.resources;
    observer.event({ id, name, data: payload, tenant: event.tenant, createdAt: event.createdAt });
    wake(outboxStore);
  });
}

/**
 * As `stage`, but an event that isn't meant is removed again in the same transaction and never delivered. Both run the
 * same statements, so that the time of an answer tells nobody which it was.
 */
export async function stageIf(
  isMeant: boolean,
  context: ExecutionContext,
  name: string,
  payload: unknown,
): Promise<void> {
  const id = uuidv7();
  await stage(context, name, payload, id);
  // No event has the other id.
  await context.transaction.of(outboxStore).remove(isMeant ? uuidv7() : id);
  if (!isMeant) context.follow(() => context.resources.observer.withdrawn(id));
}
