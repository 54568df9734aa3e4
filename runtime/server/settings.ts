// Settings: everything a deployment may choose, read from the environment once and refused by name when wrong.
import { join, resolve } from "node:path";
import type { AttemptLimits } from "../authn/attempts.js";
import { readProxyTrust, trustsNone, type ProxyTrust } from "../http/proxies.js";
import type { ConnectionLimits } from "../http/connections.js";
import type { QueryBudgets, ReadLimits } from "../operations/context.js";
import type { RealtimeLimits } from "../realtime/limits.js";
import { SecretReader } from "./secrets.js";
import type { ServiceDefinition } from "./service.js";

export interface Settings {
  readonly isProduction: boolean;
  /** Where the embedded engines keep what they keep. */
  readonly dataFolder: string;
  readonly host: string;
  readonly port: number;
  /** `sqlite:<path>` or a `postgres:` URL. */
  readonly databaseUrl: string;
  /** What processes tell each other over; null where they tell nothing. */
  readonly busUrl: string | null;
  readonly databasePoolSize: number;
  /** Connections of SQLite that read beside the event loop. */
  readonly databaseReaders: number;
  readonly connections: ConnectionLimits;
  /** What one query may cost, by who asks; null is without bound. */
  readonly queryBudgets: QueryBudgets;
  /** Where probes and metrics are, instead of beside the operations; null is there. */
  readonly adminPort: number | null;
  readonly hasMetrics: boolean;
  /** `file:<folder>`, or `s3://<bucket>?endpoint=…&region=…`. */
  readonly objectsUrl: string;
  /** Undefined has the AWS SDK look for them. */
  readonly objectsCredentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined;
  /** What clients call this service; undefined where signed addresses are those of the listener. */
  readonly publicUrl: string | undefined;
  /** Seconds after which an upload in parts that has not ended is given up. */
  readonly uploadSeconds: number;
  /** Whether pages of documentation are served. */
  readonly hasDocs: boolean;
  /** Whether pending migrations are applied at start. */
  readonly migrateAtStart: boolean;
  readonly logLevel: string;
  readonly maxBodyBytes: number;
  readonly readLimits: ReadLimits;
  readonly realtimeLimits: RealtimeLimits;
  /** Proxies before this process that are believed. */
  readonly trustsProxy: ProxyTrust;
  /** Origins whose scripts may read answers and send cookies. */
  readonly corsOrigins: readonly string[];
  readonly loginAttempts: AttemptLimits;
  readonly resetAttempts: AttemptLimits;
  /** URLs of the destinations that the outbox names: `https://…`, or `log:` in development. */
  readonly destinations: Readonly<Record<string, string>>;
  readonly outboxMaxAttempts: number;
  readonly outboxBackoffMillis: number;
  /** Seconds between "not ready" and closing the listener, for load balancers to notice. */
  readonly settleSeconds: number;
  /** Seconds that running requests get to finish. */
  readonly drainSeconds: number;
  /** Secrets that sign what comes back from clients: the first signs, all verify. */
  readonly signingSecrets: readonly Buffer[];
  /** Keys of access tokens: the first signs, all verify. Empty where an external signer holds them. */
  readonly accessTokenKeys: readonly Buffer[];
  /** Peppers of refresh tokens: the first digests, all are looked up. */
  readonly refreshPeppers: readonly Buffer[];
  /** Peppers of reset tokens: the first digests, all are looked up. */
  readonly resetPeppers: readonly Buffer[];
  /** Secrets that encrypt objects: the first encrypts, all decrypt. Empty where no storage is encrypted. */
  readonly objectSecrets: readonly Buffer[];
  /** Secrets that sign webhooks: each gives a signature. */
  readonly webhookSecrets: readonly Buffer[];
}

/** All faults of the environment at once, each naming its variable. */
export class SettingsError extends Error {
  constructor(faults: readonly string[]) {
    super(`the environment is not valid:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
    this.name = "SettingsError";
  }
}

/**
 * Reads the settings of a service. In production secrets must be given; elsewhere missing ones are made once and kept
 * under `DATA_DIR`. Throws `SettingsError`.
 */
export function readSettings(
  service: Pick<ServiceDefinition, "name" | "identity" | "outbox" | "storages">,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Settings {
  const faults: string[] = [];
  const text = (name: string, otherwise: string): string => environment[name] || otherwise;
  const mode = text("NODE_ENV", "");
  const isProduction = mode === "production";
  // Such a process would make secrets of its own, and say so to nobody.
  if (!isProduction && /^\s*prod/i.test(mode))
    faults.push(`NODE_ENV must be production, not ${mode}`);
  const dataFolder = resolve(text("DATA_DIR", ".data"));
  const number = (name: string, otherwise: number, lowest: number, highest: number): number => {
    const given = environment[name];
    if (given === undefined || given === "") return otherwise;
    const value = Number(given);
    if (/^\d+(?:\.\d+)?$/.test(given) && value >= lowest && value <= highest) return value;
    faults.push(`${name} must be a number from ${lowest} to ${highest}`);
    return otherwise;
  };
  const integer = (name: string, otherwise: number, lowest: number, highest: number): number => {
    const value = number(name, otherwise, lowest, highest);
    if (!Number.isInteger(value)) faults.push(`${name} must be a whole number`);
    return value;
  };
  const integerOrNone = (name: string, otherwise: number): number | null =>
    environment[name] === "none" ? null : integer(name, otherwise, 1, 1_000_000_000);
  const secrets = new SecretReader({ environment, isProduction, dataFolder, faults });
  const oneOf = (name: string, otherwise: string, allowed: readonly string[]): string => {
    const value = text(name, otherwise);
    if (allowed.includes(value)) return value;
    faults.push(`${name} must be one of ${allowed.join(", ")}`);
    return otherwise;
  };

  const databaseUrl = text("DATABASE_URL", `sqlite:${join(dataFolder, `${service.name}.db`)}`);
  if (databaseUrl === "sqlite::memory:") {
    faults.push(
      "DATABASE_URL must name a file: readers and the writer have connections of their own",
    );
  }
  if (!/^(?:sqlite:.+|postgres(?:ql)?:\/\/.+)$/.test(databaseUrl)) {
    faults.push("DATABASE_URL must be sqlite:<path> or a postgres:// URL");
  }
  const busUrl = text("BUS_URL", databaseUrl.startsWith("postgres") ? databaseUrl : "none");
  if (busUrl !== "none" && !/^(?:postgres(?:ql)?|rediss?):\/\/.+$/.test(busUrl))
    faults.push("BUS_URL must be a postgres:// or redis:// URL, or none");
  const objectsUrl = text("OBJECTS_URL", `file:${join(dataFolder, "objects")}`);
  if (!/^(?:file:.+|s3:\/\/[a-z0-9][a-z0-9.-]{2,62}(?:\/?\?.*)?)$/.test(objectsUrl))
    faults.push("OBJECTS_URL must be file:<folder> or s3://<bucket>?endpoint=<URL>&region=<name>");
  else if (objectsUrl.startsWith("s3:")) checkS3Options(new URL(objectsUrl).searchParams, faults);
  const accessKeyId = text("OBJECTS_ACCESS_KEY", "");
  const secretAccessKey = text("OBJECTS_SECRET_KEY", "");
  if ((accessKeyId === "") !== (secretAccessKey === ""))
    faults.push("OBJECTS_ACCESS_KEY and OBJECTS_SECRET_KEY are given together");
  const publicUrl = text("PUBLIC_URL", "");
  if (publicUrl !== "" && !isPlainUrl(publicUrl))
    faults.push("PUBLIC_URL must be the URL that clients call this service by, and no more");
  const destinations = readDestinations(service, environment, isProduction, faults);
  const isEncrypting = service.storages?.some(({ encryption }) => encryption === "client") ?? false;
  const usesWebhooks = Object.values(destinations).some((url) => url !== "log:");
  const settings: Settings = {
    isProduction,
    dataFolder,
    host: text("HOST", "127.0.0.1"),
    port: integer("PORT", 4400, 0, 65_535),
    databaseUrl,
    busUrl: busUrl === "none" ? null : busUrl,
    objectsUrl,
    objectsCredentials: accessKeyId === "" ? undefined : { accessKeyId, secretAccessKey },
    publicUrl: publicUrl === "" ? undefined : publicUrl.replace(/\/+$/, ""),
    uploadSeconds: integer("UPLOAD_MAX_AGE_SECONDS", 86_400, 1, 30 * 86_400),
    databasePoolSize: integer("DATABASE_POOL", 10, 1, 1_000),
    databaseReaders: integer("READERS", 4, 1, 64),
    connections: {
      most: integer("MAX_CONNECTIONS", 10_000, 1, 1_000_000),
      idleSeconds: number("IDLE_SECONDS", 15, 0.1, 3_600),
      stallSeconds: number("STALL_SECONDS", 60, 0.1, 3_600),
      answerBytes: integer("ANSWER_BYTES", 256 * 1024 * 1024, 1024, 1024 ** 4),
    },
    queryBudgets: {
      callers: integerOrNone("QUERY_BUDGET", 50_000_000),
      anonymous: integerOrNone("QUERY_BUDGET_ANONYMOUS", 10_000_000),
    },
    adminPort: text("ADMIN_PORT", "") === "" ? null : integer("ADMIN_PORT", 0, 0, 65_535),
    hasMetrics:
      oneOf("METRICS", isProduction && text("ADMIN_PORT", "") === "" ? "off" : "on", [
        "on",
        "off",
      ]) === "on",
    hasDocs: oneOf("DOCS", isProduction ? "off" : "on", ["on", "off"]) === "on",
    migrateAtStart: oneOf("MIGRATE", "auto", ["auto", "off"]) === "auto",
    logLevel: oneOf("LOG_LEVEL", "info", ["silent", "error", "warn", "info", "debug"]),
    maxBodyBytes: integer("MAX_BODY_BYTES", 1024 * 1024, 1, 1024 ** 3),
    readLimits: {
      documents: integerOrNone("READ_LIMIT", 10_000),
      pages: integerOrNone("PAGE_CEILING", 100_000),
    },
    realtimeLimits: {
      framesPerSecond: integer("FRAMES_PER_SECOND", 200, 1, 1_000_000),
      framesBurst: integer("FRAMES_BURST", 400, 1, 1_000_000),
      connections: integer("REALTIME_CONNECTIONS", 10_000, 1, 1_000_000),
      silentSeconds: environment["SSE_SILENT_SECONDS"]
        ? number("SSE_SILENT_SECONDS", 0, 0.1, 86_400)
        : null,
    },
    trustsProxy: trustedProxies(text("TRUSTED_PROXIES", "0"), faults),
    corsOrigins: origins(text("CORS_ORIGINS", ""), faults),
    loginAttempts: {
      perLogin: integer("LOGIN_ATTEMPTS", 10, 1, 1_000_000),
      perAddress: integer("LOGIN_ATTEMPTS_PER_ADDRESS", 300, 1, 1_000_000),
      windowSeconds: integer("LOGIN_WINDOW_SECONDS", 900, 1, 86_400),
    },
    resetAttempts: {
      perLogin: integer("RESET_ATTEMPTS", 5, 1, 1_000_000),
      perAddress: integer("RESET_ATTEMPTS_PER_ADDRESS", 60, 1, 1_000_000),
      windowSeconds: integer("RESET_WINDOW_SECONDS", 3_600, 1, 86_400),
    },
    destinations,
    outboxMaxAttempts: integer("OUTBOX_MAX_ATTEMPTS", 10, 1, 100),
    outboxBackoffMillis: number("OUTBOX_BACKOFF_SECONDS", 1, 0.01, 3_600) * 1_000,
    settleSeconds: number("SETTLE_SECONDS", isProduction ? 5 : 0, 0, 300),
    drainSeconds: number("DRAIN_SECONDS", 10, 0, 3_600),
    signingSecrets: secrets.read("SECRETS_SIGNING"),
    accessTokenKeys:
      service.identity?.signer === undefined
        ? secrets.read("SECRETS_ACCESS_TOKEN", service.identity?.algorithm)
        : [],
    refreshPeppers: secrets.read("SECRETS_REFRESH_PEPPER"),
    resetPeppers: secrets.read("SECRETS_RESET_PEPPER"),
    objectSecrets: isEncrypting ? secrets.read("SECRETS_OBJECTS") : [],
    webhookSecrets: usesWebhooks ? secrets.read("SECRETS_WEBHOOK") : [],
  };
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}

/** Whether it is a URL over HTTP without credentials, query or fragment. */
function isPlainUrl(text: string): boolean {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === "";
}

function checkS3Options(options: URLSearchParams, faults: string[]): void {
  for (const name of options.keys())
    if (name !== "endpoint" && name !== "region")
      faults.push(`OBJECTS_URL has endpoint and region, and no ${name}`);
  const endpoint = options.get("endpoint");
  if (endpoint !== null && !isPlainUrl(endpoint))
    faults.push("the endpoint in OBJECTS_URL must be a URL without credentials");
}

function trustedProxies(text: string, faults: string[]): ProxyTrust {
  const trust = readProxyTrust(text);
  if (trust === null)
    faults.push("TRUSTED_PROXIES must be a number of hops from 0 to 16, or CIDR ranges, never all");
  return trust ?? trustsNone;
}

/** Exact origins; a wildcard is none. */
function origins(text: string, faults: string[]): readonly string[] {
  const given = text.split(",").flatMap((origin) => origin.trim() || []);
  for (const origin of given) {
    const isExact =
      /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isExact) faults.push(`CORS_ORIGINS: ${origin} is no origin such as https://app.example`);
  }
  return given;
}

/** The URL of each destination that the outbox names: `DESTINATION_<NAME>`. */
function readDestinations(
  { outbox }: Pick<ServiceDefinition, "outbox">,
  environment: Readonly<Record<string, string | undefined>>,
  isProduction: boolean,
  faults: string[],
): Readonly<Record<string, string>> {
  const names = Object.values(outbox?.events ?? {}).filter((value) => typeof value === "string");
  return Object.fromEntries(
    [...new Set(names)].map((name) => {
      const variable = `DESTINATION_${name.toUpperCase()}`;
      const url = environment[variable] || (isProduction ? "" : "log:");
      const isUrl =
        /^https?:/.test(url) &&
        URL.canParse(url) &&
        new URL(url).username === "" &&
        new URL(url).password === "";
      // Payloads hold secrets, which a log of production must not.
      if (!isUrl && (isProduction || url !== "log:"))
        faults.push(
          `${variable} must be the URL of a webhook, without credentials${isProduction ? "" : ", or log:"}`,
        );
      return [name, url];
    }),
  );
}
