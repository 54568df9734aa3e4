// Where the events of an outbox go: the author's functions, and what the deployment chose for each name.
import type { Log } from "../ports/log.js";
import { logDestination } from "../families/outbox/log-destination.js";
import type { Destination, OutboxSpec } from "../families/outbox/spec.js";
import { webhook } from "../families/outbox/webhook.js";
import type { Settings } from "./settings.js";

/** The destination of each event. */
export function destinationsOf(
  { events }: OutboxSpec,
  { destinations, webhookSecrets }: Settings,
  log: Log,
): Readonly<Record<string, Destination>> {
  const named = (name: string): Destination => {
    const url = destinations[name] ?? "log:";
    return url === "log:" ? logDestination(log) : webhook(url, webhookSecrets);
  };
  return Object.fromEntries(
    Object.entries(events).map(([event, destination]) => [
      event,
      typeof destination === "string" ? named(destination) : destination,
    ]),
  );
}
