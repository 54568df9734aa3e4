// The mails that a process in development has made, to look at: none leaves the machine, so there
// is nothing else to see them in.
import type { Log } from "../../ports/log.js";
import { resourceKey } from "../../ports/resource-key.js";
import type { IntegrationEvent } from "./event.js";
import { makeMail, type AnyMailRenderer, type CheckedMail } from "./mail.js";
import type { Destination } from "./spec.js";

/** Mails that are kept; older ones are forgotten. */
const mostMails = 50;
/** Characters of a preview's text. */
const mostCharacters = 80;

/** A mail, and the event that it is of. */
export interface MadeMail extends CheckedMail {
  readonly event: Pick<IntegrationEvent, "id" | "name" | "created_at">;
}

export interface KeptMails {
  add(mail: MadeMail): void;
  /** The newest first. */
  list(): readonly MadeMail[];
}

/** The mails of a service in development; null in production, where nobody may read them. */
export const keptMails = resourceKey<KeptMails | null>("mails");

/** Keeps the last mails. An event that is delivered again takes the place of its first mail. */
export function keepMails(): KeptMails {
  const mails: MadeMail[] = [];
  return {
    add(mail) {
      const known = mails.findIndex(({ event }) => event.id === mail.event.id);
      if (known >= 0) mails.splice(known, 1);
      mails.unshift(mail);
      mails.splice(mostMails);
    },
    list: () => [...mails],
  };
}

/**
 * A destination that keeps the mail of each event that has one, and logs a line of it. If none can
 * be made, it logs why and gives up: the event may be one that never goes to a mail server.
 */
export function showMails(render: AnyMailRenderer, kept: KeptMails, log: Log): Destination {
  return async (event, context) => {
    const { id, name, created_at } = event;
    try {
      const mail = await makeMail(render, event, context);
      if (mail === null) return;
      kept.add({ ...mail, event: { id, name, created_at } });
      log.info({ event: name, mail: previewOf(mail) }, "a mail was made");
    } catch (error) {
      log.warn({ event: name, err: error }, "no mail could be made of an event");
    }
  };
}

/** `to ann@example.test: Thank you · Your order is on its way.` */
function previewOf({ to: [first = "", ...others], subject, text, html = "" }: CheckedMail): string {
  const body = (text ?? html.replaceAll(/<(style|title)\b.*?<\/\1>|<[^>]*>/gis, " "))
    .replaceAll(/\s+/g, " ")
    .trim();
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const cut = body.length > mostCharacters ? `${body.slice(0, mostCharacters)}…` : body;
  return `to ${first}${more}: ${subject} · ${cut}`;
}
