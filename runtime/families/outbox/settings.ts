// What a deployment chooses about the outbox: where integration events go, and how often that is tried.
import type { SettingsSource } from "../../operations/family.js";
import type { OutboxSpec } from "./spec.js";

export interface OutboxSettings {
  /** URLs of the destinations that the outbox names: `https://…`, or `log:` in development. */
  readonly destinations: Readonly<Record<string, string>>;
  /** After so many attempts an event is given up and kept as a dead letter. */
  readonly maxAttempts: number;
  /** The first wait is random up to this, and doubles. */
  readonly backoffMillis: number;
  /** Secrets that sign webhooks: each gives a signature. */
  readonly webhookSecrets: readonly Buffer[];
}

export function readOutboxSettings(spec: OutboxSpec, source: SettingsSource): OutboxSettings {
  const { environment, secrets } = source;
  const destinations = readDestinations(spec, source);
  const usesWebhooks = Object.values(destinations).some((url) => url !== "log:");
  return {
    destinations,
    maxAttempts: environment.integer("OUTBOX_MAX_ATTEMPTS", 10, 1, 100),
    backoffMillis: environment.number("OUTBOX_BACKOFF_SECONDS", 1, 0.01, 3_600) * 1_000,
    webhookSecrets: usesWebhooks ? secrets.read("SECRETS_WEBHOOK") : [],
  };
}

/** The URL of each destination that the outbox names: `DESTINATION_<NAME>`. */
function readDestinations(
  { events }: OutboxSpec,
  { environment, isProduction }: SettingsSource,
): Readonly<Record<string, string>> {
  const names = Object.values(events).filter((value) => typeof value === "string");
  return Object.fromEntries(
    [...new Set(names)].map((name) => {
      const variable = `DESTINATION_${name.toUpperCase()}`;
      const url = environment.text(variable, isProduction ? "" : "log:");
      const isUrl =
        /^https?:/.test(url) &&
        URL.canParse(url) &&
        new URL(url).username === "" &&
        new URL(url).password === "";
      // Payloads hold secrets, which a log of production must not.
      if (!isUrl && (isProduction || url !== "log:"))
        environment.faults.push(
          `${variable} must be the URL of a webhook, without credentials${isProduction ? "" : ", or log:"}`,
        );
      return [name, url];
    }),
  );
}
