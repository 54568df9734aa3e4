// What changes of integration events mean for their receivers.
import type { OutboxEventModel, RegistryModel } from "../../model/registry.js";
import type { Comparison } from "../../kernel/family.js";
import { compareEvents } from "../../compare/events.js";
import type { Rules } from "../../compare/rules.js";

const integrationEvent: Rules<OutboxEventModel> = {
  // Types are compared where they stand.
  typeName: null,
  destination: null,
};

/** Integration events, which receivers of webhooks read. */
export function compare(
  before: RegistryModel,
  after: RegistryModel,
  { values, note }: Comparison,
): void {
  const events = [before.outbox ?? {}, after.outbox ?? {}] as const;
  compareEvents("integration event", events, integrationEvent, values, note);
}
