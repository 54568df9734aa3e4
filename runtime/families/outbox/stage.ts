// Staging an integration event in the transaction of the operation that caused it (service.md
// "Integration events (outbox)").
import { firstName } from "../../contract/former-names.js";
import type { OutboxSpec } from "./spec.js";
import type { ExecutionContext } from "../../operations/context.js";
import { callWithTurns } from "../../operations/held-calls.js";
import { uuidv7 } from "../../ports/uuid.js";
import { outboxStore } from "../../ports/outbox.js";

/**
 * Stages an event of a service, typed by its name; see `stage`. Rejects if the data is not what the
 * event declares.
 */
export type StageEvent<Events> = <Name extends keyof Events & string>(
  context: ExecutionContext,
  name: Name,
  data: Events[Name],
) => Promise<void>;

/** Cuts the data of an event to its declared members. Throws if it is not as declared. */
type DeclaredData = (data: unknown, event: string) => unknown;

/**
 * Makes the function by which authors' code stages events, and which it has to await. `declared`
 * has each event of the service, with null for those of opwright, whose data has no other members;
 * `was` the names under which they are stored, where these are others.
 */
export function eventStaging<Events>(
  declared: Readonly<Record<keyof Events & string, DeclaredData | null>>,
  { was }: Pick<OutboxSpec, "was"> = {},
): StageEvent<Events> {
  return (context, name, data) =>
    callWithTurns(context, "stageEvent", async () => {
      if (!Object.hasOwn(declared, name)) throw new Error(`${name} is no event of the outbox`);
      const held = declared[name];
      const told = held === null ? data : held(data, name);
      await stage(context, name, told, { storedAs: firstName(was, name) });
    });
}

/**
 * Puts an event into the outbox: it is delivered once the transaction has committed, and never if
 * it is undone.
 */
export async function stage(
  context: ExecutionContext,
  name: string,
  payload: unknown,
  { id = uuidv7(), storedAs = name }: { readonly id?: string; readonly storedAs?: string } = {},
): Promise<void> {
  const { kept, sealer } = context.resources;
  const form = kept.events(name);
  const event = {
    id,
    name,
    payload: sealer.seal(form.stored(JSON.stringify(payload)), id),
    shape: form.shape,
    traceparent: context.metadata.traceparent ?? null,
    tenant: context.tenant,
    createdAt: context.clock.now(),
  };
  await context.transaction.of(outboxStore).add({ ...event, name: storedAs });
  await context.resources.staged(context, event);
  context.follow(() => {
    const { observer, wake } = context.resources;
    observer.event({ id, name, data: payload, tenant: event.tenant, createdAt: event.createdAt });
    wake(outboxStore);
  });
}

/**
 * As `stage`, but an event that isn't meant is removed again in the same transaction and never
 * delivered. Both run the same statements, so that the time of an answer tells nobody which it was.
 */
export async function stageIf(
  isMeant: boolean,
  context: ExecutionContext,
  name: string,
  payload: unknown,
): Promise<void> {
  const id = uuidv7();
  await stage(context, name, payload, { id });
  // No event has the other id.
  await context.transaction.of(outboxStore).remove(isMeant ? uuidv7() : id);
  if (!isMeant) context.follow(() => context.resources.observer.withdrawn(id));
}
