// Where the events of an outbox go: the author's functions, and what the deployment chose for each name.
import type { Log } from "../../ports/log.js";
import { logDestination } from "./log-destination.js";
import type { Destination, OutboxSpec } from "./spec.js";
import { webhook } from "./webhook.js";
import type { OutboxSettings } from "./settings.js";

/** The destination of each event. */
export function destinationsOf(
  { events }: OutboxSpec,
  { destinations, webhookSecrets }: OutboxSettings,
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
