// The settings of the outbox: where integration events go, and how often delivery is tried.
import type { SettingsSource } from "../../operations/family.js";
import type { OutboxSpec } from "./spec.js";

export interface OutboxSettings {
  /**
   * URLs of the destinations that the outbox names: `https://…`, `smtps://…`, or `log:` in
   * development.
   */
  readonly destinations: Readonly<Record<string, string>>;
  /** After so many attempts an event is given up and kept as a dead letter. */
  readonly maxAttempts: number;
  /** The first wait is random up to this, and doubles. */
  readonly backoffMillis: number;
  /** Secrets that sign webhooks; each adds a signature. */
  readonly webhookSecrets: readonly Buffer[];
  /** Who sends mails; "" where nobody does. */
  readonly mailFrom: string;
  /** Whether a mail server must offer STARTTLS: in production, unless it is this machine. */
  readonly requiresTls: (url: string) => boolean;
  readonly isProduction: boolean;
}

/** Whether a destination is a mail server. */
export function isMailServer(url: string): boolean {
  return /^smtps?:/.test(url);
}

export function readOutboxSettings(
  spec: OutboxSpec | undefined,
  source: SettingsSource,
): OutboxSettings {
  const { environment, secrets, isProduction } = source;
  const destinations = spec === undefined ? {} : readDestinations(spec, source);
  const urls = Object.values(destinations);
  return {
    destinations,
    maxAttempts: environment.integer("OUTBOX_MAX_ATTEMPTS", 10, 1, 100),
    backoffMillis: environment.number("OUTBOX_BACKOFF_SECONDS", 1, 0.01, 3_600) * 1_000,
    webhookSecrets: urls.some((url) => /^https?:/.test(url)) ? secrets.read("SECRETS_WEBHOOK") : [],
    mailFrom: urls.some(isMailServer) ? readSender(source) : "",
    requiresTls: (url) => isProduction && !isThisMachine(new URL(url)),
    isProduction,
  };
}

/** `Shop <no-reply@example.test>`, or the address alone. */
const sender = /^(?:[^<>"\r\n]* )?<?[^\s@<>,;:"]+@[^\s@<>,;:"]+>?$/;

function readSender({ environment }: SettingsSource): string {
  const from = environment.text("MAIL_FROM", "");
  if (!sender.test(from))
    environment.faults.push(
      "MAIL_FROM must be who sends mails, as in Shop <no-reply@example.test>",
    );
  return from;
}

/** The URL of each destination that the outbox names: `DESTINATION_<NAME>`. */
function readDestinations(
  { events, mail }: OutboxSpec,
  { environment, isProduction }: SettingsSource,
): Readonly<Record<string, string>> {
  const names = Object.values(events).filter((value) => typeof value === "string");
  return Object.fromEntries(
    [...new Set(names)].map((name) => {
      const variable = `DESTINATION_${name.toUpperCase()}`;
      const url = environment.text(variable, isProduction ? "" : "log:");
      const isDevelopment = !isProduction && url === "log:";
      const isServer = isMailServer(url);
      if (isServer && mail === undefined)
        environment.faults.push(
          `${variable} is a mail server, and \`outbox.mail\` names no function that makes mails`,
        );
      // Payloads hold secrets, which a log of production must not.
      if (!isDevelopment && !(isServer ? isServerUrl(url) : isWebhookUrl(url)))
        environment.faults.push(
          `${variable} must be the URL of a webhook, without credentials, or of a mail server (smtps://user:password@host)` +
            (isProduction ? "" : ", or log:"),
        );
      return [name, url];
    }),
  );
}

function isWebhookUrl(url: string): boolean {
  if (!/^https?:/.test(url) || !URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username === "" && password === "";
}

function isServerUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, pathname, search, hash, username, password } = new URL(url);
  const isPlain = hostname !== "" && /^\/?$/.test(pathname) && search === "" && hash === "";
  return isPlain && (username === "") === (password === "") && isDecodable(username + password);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function isThisMachine({ hostname }: URL): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
