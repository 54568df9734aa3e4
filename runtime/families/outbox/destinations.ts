// Where the events of an outbox go: to functions of the author's, or to the URL that the deployment
// set for a name.
import type { Log } from "../../ports/log.js";
import { showMails, type KeptMails } from "./kept-mails.js";
import { logDestination } from "./log-destination.js";
import { smtp, type MailDestination } from "./smtp.js";
import type { Destination, OutboxSpec } from "./spec.js";
import { webhook } from "./webhook.js";
import { isMailServer, type OutboxSettings } from "./settings.js";

export interface Destinations {
  /** By event. */
  readonly of: Readonly<Record<string, Destination>>;
  /** Ends the connections that they hold. */
  close(): Promise<void>;
}

/** The destination of each event. */
export function destinationsOf(
  { events, mail }: OutboxSpec,
  { destinations, webhookSecrets, mailFrom, requiresTls }: OutboxSettings,
  log: Log,
  kept: KeptMails | null,
): Destinations {
  // Events that go to one name share its connections.
  const servers = new Map<string, MailDestination>();
  const mailed = (url: string): Destination => {
    // Settings refuse a mail server where nothing makes mails.
    if (mail === undefined) throw new Error("the outbox declares no `mail`");
    const known =
      servers.get(url) ?? smtp({ url, from: mailFrom, requiresTls: requiresTls(url) }, mail);
    servers.set(url, known);
    return known.destination;
  };
  const logged = logDestination(log);
  const shown = mail === undefined || kept === null ? null : showMails(mail, kept, log);
  const inDevelopment: Destination = async (event, context) => {
    await logged(event, context);
    await shown?.(event, context);
  };
  const named = (name: string): Destination => {
    const url = destinations[name] ?? "log:";
    if (url === "log:") return inDevelopment;
    return isMailServer(url) ? mailed(url) : webhook(url, webhookSecrets);
  };
  return {
    of: Object.fromEntries(
      Object.entries(events).map(([event, destination]) => [
        event,
        typeof destination === "string" ? named(destination) : destination,
      ]),
    ),
    async close() {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}
