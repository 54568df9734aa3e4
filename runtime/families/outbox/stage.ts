// Staging an integration event in the transaction of the operation that caused it (service.md "Integration events (outbox)").
import type { ExecutionContext } from "../../operations/context.js";
import { uuidv7 } from "../../contract/uuid.js";
import { outboxStore } from "../../ports/outbox.js";

/** As `stageEvent` of authors' code does, which has to await it. */
export const stageHeld: typeof stage = (context, name, payload) =>
  context.callInTurn("stageEvent", () => stage(context, name, payload));

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

/** Undoes the staging of an event in its transaction: the work is the same as for a real one, and nothing is delivered. */
export async function withdraw(context: ExecutionContext, id: string): Promise<void> {
  await context.transaction.of(outboxStore).remove(id);
  context.follow(() => context.resources.observer.withdrawn(id));
}
