// Compares the integration events of two registries, as their receivers see them.
import { deprecations } from "../../compare/deprecations.js";
import type { OutboxEventModel } from "./model.js";
import type { RegistryModel } from "../../model/registry.js";
import type { Comparison } from "../../compare/comparison.js";
import { compareEvents } from "../../compare/events.js";
import type { Rules } from "../../compare/rules.js";

const integrationEvent: Rules<OutboxEventModel> = {
  // `compareEvents` compares the types.
  typeName: null,
  // `compareEvents` compares the names.
  was: null,
  deprecated: deprecations,
  destination: (before, after) => {
    const [was, is] = [before, after].map(destinationText);
    return was === is ? [] : [["breaking", `goes to ${is} instead of ${was}`]];
  },
  // Compared as what webhooks ask of subscribers.
  guard: null,
};

/**
 * The name of a destination, or of the function that delivers: receivers don't care where its file
 * is.
 */
function destinationText(destination: OutboxEventModel["destination"]): string {
  return typeof destination === "string" ? destination : destination.name;
}

/** Reports changes of integration events, which receivers of webhooks read. */
export function compare(before: RegistryModel, after: RegistryModel, comparison: Comparison): void {
  const events = [before.outbox ?? {}, after.outbox ?? {}] as const;
  compareEvents(
    { kind: "integration event", section: "outbox" },
    events,
    integrationEvent,
    comparison,
  );
}
