// Mails of integration events: what the author's function returns for each, and what of that is
// sent.
import type { ExecutionContext } from "../../operations/context.js";
import { runHeld } from "../../operations/held-calls.js";
import type { IntegrationEvent } from "./event.js";

/** A mail of the author's: text, HTML, or both. The deployment sets the sender. */
export interface Mail {
  /** An address, or several: `ann@example.test`, without a name. */
  readonly to: string | readonly string[];
  readonly subject: string;
  readonly text?: string;
  readonly html?: string;
  /** Where replies go. */
  readonly reply_to?: string;
}

/** An event whose `name` determines the type of its `data`. */
export type MailedEvent<Events> = {
  readonly [Name in keyof Events & string]: Omit<IntegrationEvent, "name" | "data"> & {
    readonly name: Name;
    readonly data: Events[Name];
  };
}[keyof Events & string];

/** The mail of an event; null and undefined mean none. */
type Made = Mail | null | undefined;

/**
 * Returns the mail of an event; null and undefined mean none. A rejection leads to another attempt.
 * See `Destination`.
 */
export type MailRenderer<Events = Readonly<Record<string, unknown>>> = (
  event: MailedEvent<Events>,
  context: ExecutionContext,
) => Made | Promise<Made>;

/** The same for events of any service, whose types aren't known. */
// oxlint-disable-next-line typescript/no-explicit-any -- what it takes is tied to the events where it is declared
export type AnyMailRenderer = (event: any, context: ExecutionContext) => Made | Promise<Made>;

/** A mail as it is sent: its recipients are a list. */
export type CheckedMail = Mail & { readonly to: readonly string[] };

/**
 * Has the author's function make the mail of an event; null for none. Rejects if what it returns is
 * no mail.
 */
export async function makeMail(
  render: AnyMailRenderer,
  event: IntegrationEvent,
  context: ExecutionContext,
): Promise<CheckedMail | null> {
  const made = await runHeld(context, render, (own) => render(event, own));
  return made === null || made === undefined ? null : checkedMail(made);
}

/**
 * One address and nothing else: no second recipient, no name, no line break or other control
 * character.
 */
const address = /^[^\s\p{Cc}@<>()[\]\\,;:"]+@[^\s\p{Cc}@<>()[\]\\,;:"]+$/u;
const maxRecipients = 50;

/**
 * The mail with its recipients as a list. Throws if it isn't one, without naming a recipient,
 * because the reason is logged.
 */
function checkedMail(mail: Mail): CheckedMail {
  const { to, subject, text, html, reply_to: replyTo } = mail;
  const recipients = typeof to === "string" ? [to] : to;
  if (!Array.isArray(recipients) || recipients.length === 0 || recipients.length > maxRecipients)
    throw new TypeError(`a mail needs 1 to ${maxRecipients} recipients`);
  for (const one of [...recipients, ...(replyTo === undefined ? [] : [replyTo])])
    if (typeof one !== "string" || !address.test(one))
      throw new TypeError("a mail goes to plain addresses such as ann@example.test");
  if (typeof subject !== "string") throw new TypeError("a mail needs a subject");
  const bodies = [text, html].filter((body) => body !== undefined);
  if (bodies.length === 0 || bodies.some((body) => typeof body !== "string"))
    throw new TypeError("a mail needs a text, or HTML, or both");
  return { ...mail, to: recipients };
}
