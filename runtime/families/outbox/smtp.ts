// A destination that mails: events become mails of the author's, which a mail server takes (RFC
// 5321).
import { domainToASCII } from "node:url";
import type { Transporter } from "nodemailer";
import { makeMail, type Mail, type AnyMailRenderer } from "./mail.js";
import type { Destination } from "./spec.js";

/** A mail server, and the sender of mails. */
export interface MailServer {
  /** `smtp://` or `smtps://`, with credentials where the server asks for them. */
  readonly url: string;
  /** The sender, as `From` has it. */
  readonly from: string;
  /** Whether `smtp://` without STARTTLS is refused. */
  readonly requiresTls: boolean;
}

/** Connections of a process to one server. */
const maxConnections = 5;
/**
 * Milliseconds for a step of the conversation, and for a whole mail, which is less than the relay
 * allows.
 */
const stepMillis = 10_000;
const mailMillis = 15_000;

export interface MailDestination {
  readonly destination: Destination;
  /** Ends its connections. */
  close(): Promise<void>;
}

/**
 * Mails each event for which `render` returns a mail. An unacknowledged attempt is repeated with
 * the same Message-ID, by which mailboxes recognize duplicates.
 */
export function smtp(server: MailServer, render: AnyMailRenderer): MailDestination {
  let opened: Promise<Transporter> | undefined;
  return {
    async destination(event, context) {
      const mail = await makeMail(render, event, context);
      if (mail === null) return;
      const transport = await (opened ??= open(server));
      await transport.sendMail({
        ...message(mail, server.from),
        messageId: `<${event.id}@${domainOf(server.from)}>`,
        // A date, not a text: the library writes it as RFC 5322 §3.3 says.
        date: new Date(event.created_at),
        signal: AbortSignal.any([AbortSignal.timeout(mailMillis), context.signal]),
      });
    },
    async close() {
      const transport = await opened;
      transport?.close();
    },
  };
}

/**
 * Copies known members only, so that nothing else that the author's function returned reaches the
 * library.
 */
function message({ to, subject, text, html, reply_to: replyTo }: Mail, from: string) {
  return {
    from: senderOf(from),
    to: [...to],
    subject: foldable(subject),
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    ...(replyTo === undefined ? {} : { replyTo }),
    // Asks for no automatic replies (RFC 3834).
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

async function open({ url, requiresTls }: MailServer): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === "smtps:";
  return createTransport({
    pool: true,
    maxConnections,
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    requireTLS: requiresTls && !isSecure,
    ...(username === ""
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    dnsTimeout: stepMillis,
    connectionTimeout: stepMillis,
    greetingTimeout: stepMillis,
    socketTimeout: stepMillis,
    // Content is text, never a file or URL to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** The sender as name and address: read as one text, a name with a comma would be two senders. */
function senderOf(from: string): { readonly name: string; readonly address: string } {
  const [, name = "", address = from] = /^(.*?)\s*<([^<>]*)>$/.exec(from) ?? [];
  return { name, address };
}

/** Beyond this, a line of a header is too long to be one (RFC 5322 §2.1.1). */
const longestWord = 900;

/**
 * A subject in which every word fits on a line: a longer one is cut, since headers fold at spaces
 * only.
 */
function foldable(subject: string): string {
  return subject.replaceAll(new RegExp(`\\S{${longestWord}}(?=\\S)`, "gu"), "$& ");
}

/** The domain of the sender in ASCII, which a Message-ID takes (RFC 5322 §3.6.4). */
function domainOf(from: string): string {
  const domain = domainToASCII(senderOf(from).address.split("@").at(-1) ?? "");
  return domain === "" ? "localhost" : domain;
}
