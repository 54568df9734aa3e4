// Mails that a queue passes on become tickets, or comments of those that their subjects name.
import { createHmac, timingSafeEqual } from "node:crypto";
import { collection, fail as refuse, unscoped } from "opwright/runtime";
import { commentsSpec } from "../generated/documents/comments.js";
import { emailQueuesSpec } from "../generated/documents/email_queues.js";
import { imapEmailsSpec } from "../generated/documents/imap_emails.js";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { fail } from "../generated/errors.js";
import type { ImapEmailsReceiveHandler } from "../generated/types/imap_emails.js";
import { tellOfNew } from "./tickets.js";

export const receive: ImapEmailsReceiveHandler = async ({ queue, body }, context) => {
  const { secret, active } = await collection(emailQueuesSpec, context).get(queue);
  const is = createHmac("sha256", secret).update(body).digest();
  const said = Buffer.from(context.headers["x-signature"] ?? "", "hex");
  if (!active || is.length !== said.length || !timingSafeEqual(is, said))
    throw fail("signature_wrong");
  const { id: message, from, subject, text, html = null } = parseMail(body);
  // Beyond scopes, because of the ticket that a mail names: nobody is signed in.
  const mails = collection(unscoped(imapEmailsSpec), context);
  if (await mails.exists({ filters: { $values: { queue, message } } })) return;
  const tickets = collection(unscoped(ticketsSpec), context);
  const [, number] = /#(\d{1,9})\b/.exec(subject) ?? [];
  const filters = { $values: { number: Number(number ?? 0), email: from } };
  const known = await tickets.first({ filters });
  const ticket =
    known ??
    (await tickets.create({
      title: subject.slice(0, 200),
      detail: text,
      email: from,
      from_imap: true,
    }));
  await mails.create({ queue, message, from, subject, text, html, ticket: ticket.id });
  if (known === null) return tellOfNew(ticket, context);
  const comment = { ticket: ticket.id, text: text.slice(0, 10_000), public: true };
  await collection(unscoped(commentsSpec), context).create(comment);
};

interface Mail {
  readonly id: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

function parseMail(body: Buffer): Mail {
  try {
    const { id, from, subject, text, html } = JSON.parse(body.toString()) as Record<
      string,
      unknown
    >;
    const texts = [id, from, subject, text].map(String);
    const [message = "", sender = "", title = "", words = ""] = texts;
    const more = typeof html === "string" ? { html } : {};
    return {
      id: message,
      from: sender,
      subject: title.trim() || "(none)",
      text: words || "(none)",
      ...more,
    };
  } catch {
    throw refuse("core.malformed");
  }
}
