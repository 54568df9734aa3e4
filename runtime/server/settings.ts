// Settings: everything that a deployment may choose, read from the environment once. A wrong value
// is refused by its name.
import { resolve } from "node:path";
import { readProxyTrust, trustsNone, type ProxyTrust } from "../http/proxies.js";
import type { ConnectionLimits } from "../http/connections.js";
import type { QueryBudgets, ReadLimits } from "../operations/invocation-facts.js";
import { Environment, isPlainUrl } from "../operations/environment.js";
import { readBackup, type BackupSettings } from "./backup/settings.js";
import { readEngines, type EngineSettings } from "./engine-settings.js";
import { settingsOfFamilies, type FamilyParts } from "../families.js";
import { SecretReader } from "./secrets.js";
import type { ServiceDefinition } from "./service.js";

export interface Settings extends EngineSettings {
  readonly isProduction: boolean;
  /** Where the embedded engines keep their files, and development its secrets. */
  readonly dataFolder: string;
  readonly host: string;
  readonly port: number;
  /** The continuous backup of an embedded database; null if there is none. */
  readonly backup: BackupSettings | null;
  readonly connections: ConnectionLimits;
  /** Answers with at least so many bytes of JSON are compressed; null compresses none. */
  readonly compressBytes: number | null;
  /**
   * What one query may cost, by who asks, in the units of `query-cost.ts`; null is without bound.
   */
  readonly queryBudgets: QueryBudgets;
  /** A port of their own for probes and metrics; null if they are on the port of the operations. */
  readonly adminPort: number | null;
  readonly hasMetrics: boolean;
  /**
   * The URL by which clients reach this service. If undefined, it is the listener's, and unknown in
   * production.
   */
  readonly publicUrl: string | undefined;
  /** Whether the pages of the documentation are served. */
  readonly hasDocs: boolean;
  /** The permission of those who operate the service in the console; null if there is none. */
  readonly consolePermission: string | null;
  readonly logLevel: string;
  readonly maxBodyBytes: number;
  readonly readLimits: ReadLimits;
  /** Which proxies in front of this process are trusted. */
  readonly trustsProxy: ProxyTrust;
  /** Origins whose scripts may read answers and send cookies. */
  readonly corsOrigins: readonly string[];
  /** The settings of each family of the service, by its member. */
  readonly families: Readonly<Record<string, unknown>>;
  /** Seconds between "not ready" and closing the listener, so that load balancers notice. */
  readonly settleSeconds: number;
  /** Seconds that running requests get to finish. */
  readonly drainSeconds: number;
  /** Secrets that sign what clients send back: the first signs, all verify. */
  readonly signingSecrets: readonly Buffer[];
}

/** All faults of the environment at once, each naming its variable. */
export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the environment is not valid:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
    this.name = "SettingsError";
    this.faults = faults;
  }
}

/** What becomes of secrets that are missing. */
const missingSecrets = { everything: "kept", look: "made", database: "left" } as const;

type ServiceNeeds = Pick<ServiceDefinition, "name" | "was"> & FamilyParts;

/**
 * Reads the settings of a service. In production secrets must be set; otherwise missing ones are
 * made once and kept under `DATA_DIR`, unless somebody only wants to look. For work on the database
 * alone, what else is missing or wrong is no fault. Throws `SettingsError`.
 */
export function readSettings(
  service: ServiceNeeds,
  values: Readonly<Record<string, string | undefined>> = process.env,
  uses: keyof typeof missingSecrets = "everything",
): Settings {
  const environment = new Environment(values);
  const { faults } = environment;
  const others = uses === "database" ? new Environment(values) : environment;
  const isProduction = readMode(environment);
  const dataFolder = resolve(environment.text("DATA_DIR", ".data"));
  const secrets = new SecretReader({
    environment: values,
    isProduction,
    dataFolder,
    missing: missingSecrets[uses],
    faults: others.faults,
  });
  const engines = readEngines(environment, service, dataFolder);
  const settings: Settings = {
    isProduction,
    dataFolder,
    ...engines,
    backup: readBackup(environment, { databaseUrl: engines.databaseUrl, dataFolder }),
    publicUrl: readPublicUrl(environment),
    ...readListening(others, isProduction),
    ...readBounds(others),
    signingSecrets: secrets.read("SECRETS_SIGNING"),
    families: settingsOfFamilies(service, {
      environment: others,
      secrets,
      isProduction,
      dataFolder,
    }),
  };
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}

/** Whether `NODE_ENV` is production. A mistyped one is a fault. */
function readMode(environment: Environment): boolean {
  const mode = environment.text("NODE_ENV", "");
  // Such a process would run with the defaults of development, and silently make its own secrets.
  if (mode !== "production" && /^\s*prod/i.test(mode))
    environment.faults.push(`NODE_ENV must be production, not ${mode}`);
  return mode === "production";
}

/** The URL that clients call the service by, without a slash at its end. */
function readPublicUrl(environment: Environment): string | undefined {
  const url = environment.text("PUBLIC_URL", "");
  if (url !== "" && !isPlainUrl(url))
    environment.faults.push(
      "PUBLIC_URL must be the URL that clients call this service by, and no more",
    );
  return url === "" ? undefined : url.replace(/\/+$/, "");
}

type ListeningSettings = Pick<
  Settings,
  | "host"
  | "port"
  | "adminPort"
  | "hasMetrics"
  | "hasDocs"
  | "consolePermission"
  | "logLevel"
  | "trustsProxy"
  | "corsOrigins"
  | "compressBytes"
  | "settleSeconds"
  | "drainSeconds"
>;

/**
 * Where the service listens, which proxies and origins it trusts, what it serves besides
 * operations, and how it stops.
 */
function readListening(environment: Environment, isProduction: boolean): ListeningSettings {
  const { faults } = environment;
  const hasDocs = environment.oneOf("DOCS", isProduction ? "off" : "on", ["on", "off"]) === "on";
  const hasAdminPort = environment.text("ADMIN_PORT", "") !== "";
  const isOn = (name: string, otherwise: boolean): boolean =>
    environment.oneOf(name, otherwise ? "on" : "off", ["on", "off"]) === "on";
  return {
    host: environment.text("HOST", "127.0.0.1"),
    port: environment.integer("PORT", 4400, 0, 65_535),
    adminPort: hasAdminPort ? environment.integer("ADMIN_PORT", 0, 0, 65_535) : null,
    hasMetrics: isOn("METRICS", !isProduction || hasAdminPort),
    hasDocs,
    consolePermission: readConsole(environment, hasDocs && !isProduction),
    logLevel: environment.oneOf("LOG_LEVEL", "info", ["silent", "error", "warn", "info", "debug"]),
    trustsProxy: trustedProxies(environment.text("TRUSTED_PROXIES", "0"), faults),
    corsOrigins: origins(environment.text("CORS_ORIGINS", ""), faults),
    compressBytes:
      environment.text("COMPRESS_BYTES", "none") === "none"
        ? null
        : environment.integer("COMPRESS_BYTES", 0, 1024, 1_000_000_000),
    settleSeconds: environment.number("SETTLE_SECONDS", isProduction ? 5 : 0, 0, 300),
    drainSeconds: environment.number("DRAIN_SECONDS", 10, 0, 3_600),
  };
}

/** Who operates the service in the console; in production nobody, unless a setting says it. */
function readConsole(environment: Environment, isUsual: boolean): string | null {
  const permission = environment.text("CONSOLE", isUsual ? "platform.admin" : "off");
  if (permission === "off") return null;
  if (!/^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?$/.test(permission))
    environment.faults.push("CONSOLE must be a permission such as platform.admin, or off");
  return permission;
}

type BoundSettings = Pick<Settings, "connections" | "queryBudgets" | "maxBodyBytes" | "readLimits">;

/** The limits on what callers may use up. */
function readBounds(environment: Environment): BoundSettings {
  return {
    connections: {
      most: environment.integer("MAX_CONNECTIONS", 10_000, 1, 1_000_000),
      idleSeconds: environment.number("IDLE_SECONDS", 15, 0.1, 3_600),
      stallSeconds: environment.number("STALL_SECONDS", 60, 0.1, 3_600),
      answerBytes: environment.integer("ANSWER_BYTES", 256 * 1024 * 1024, 1024, 1024 ** 4),
    },
    queryBudgets: {
      callers: environment.integerOrNone("QUERY_BUDGET", 50_000_000),
      anonymous: environment.integerOrNone("QUERY_BUDGET_ANONYMOUS", 10_000_000),
    },
    maxBodyBytes: environment.integer("MAX_BODY_BYTES", 1024 * 1024, 1, 1024 ** 3),
    readLimits: {
      documents: environment.integerOrNone("READ_LIMIT", 10_000),
      pages: environment.integerOrNone("PAGE_CEILING", 100_000),
    },
  };
}

function trustedProxies(text: string, faults: string[]): ProxyTrust {
  const trust = readProxyTrust(text);
  if (trust === null)
    faults.push("TRUSTED_PROXIES must be a number of hops from 0 to 16, or CIDR ranges, never all");
  return trust ?? trustsNone;
}

/** The origins of a list; each must be exact, without wildcards. */
function origins(text: string, faults: string[]): readonly string[] {
  const given = text.split(",").flatMap((origin) => origin.trim() || []);
  for (const origin of given) {
    const isExact =
      /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isExact) faults.push(`CORS_ORIGINS: ${origin} is no origin such as https://app.example`);
  }
  return given;
}
