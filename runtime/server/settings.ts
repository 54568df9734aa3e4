// Settings: everything a deployment may choose, read from the environment once and refused by name when wrong.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { LoginThrottleLimits } from "../authn/login-throttle.js";

export interface Settings {
  readonly isProduction: boolean;
  readonly host: string;
  readonly port: number;
  /** `sqlite:<path>` or a `postgres:` URL. */
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** Whether pending migrations are applied at start. */
  readonly migrateAtStart: boolean;
  readonly logLevel: string;
  readonly maxBodyBytes: number;
  /** Proxies before this process whose `X-Forwarded-For` is believed. */
  readonly trustedHops: number;
  readonly loginThrottle: LoginThrottleLimits;
  /** Seconds between "not ready" and closing the listener, for load balancers to notice. */
  readonly settleSeconds: number;
  /** Seconds that running requests get to finish. */
  readonly drainSeconds: number;
  /** Secrets that sign what comes back from clients: the first signs, all verify. */
  readonly signingSecrets: readonly Buffer[];
  /** Secrets of access tokens: the first signs, all verify. */
  readonly accessTokenSecrets: readonly Buffer[];
  /** Peppers of refresh tokens; only the first is used, so changing it ends every session. */
  readonly refreshPeppers: readonly Buffer[];
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
  serviceName: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Settings {
  const faults: string[] = [];
  const isProduction = environment["NODE_ENV"] === "production";
  const dataFolder = resolve(environment["DATA_DIR"] ?? ".data");
  const text = (name: string, otherwise: string): string => environment[name] || otherwise;
  const number = (name: string, otherwise: number, lowest: number, highest: number): number => {
    const given = environment[name];
    if (given === undefined || given === "") return otherwise;
    const value = Number(given);
    if (/^\d+(?:\.\d+)?$/.test(given) && value >= lowest && value <= highest) return value;
    faults.push(`${name} must be a number from ${lowest} to ${highest}`);
    return otherwise;
  };
  const integer = (name: string, otherwise: number, lowest: number, highest: number): number =>
    Math.floor(number(name, otherwise, lowest, highest));
  const secrets = (name: string): readonly Buffer[] =>
    readSecrets(name, environment, isProduction, dataFolder, faults);
  const oneOf = (name: string, otherwise: string, allowed: readonly string[]): string => {
    const value = text(name, otherwise);
    if (allowed.includes(value)) return value;
    faults.push(`${name} must be one of ${allowed.join(", ")}`);
    return otherwise;
  };

  const databaseUrl = text("DATABASE_URL", `sqlite:${join(dataFolder, `${serviceName}.db`)}`);
  if (databaseUrl === "sqlite::memory:") {
    faults.push(
      "DATABASE_URL must name a file: readers and the writer have connections of their own",
    );
  }
  if (!/^(?:sqlite:.+|postgres(?:ql)?:\/\/.+)$/.test(databaseUrl)) {
    faults.push("DATABASE_URL must be sqlite:<path> or a postgres:// URL");
  }
  const settings: Settings = {
    isProduction,
    host: text("HOST", "127.0.0.1"),
    port: integer("PORT", 4400, 0, 65_535),
    databaseUrl,
    databasePoolSize: integer("DATABASE_POOL", 10, 1, 1_000),
    migrateAtStart: oneOf("MIGRATE", "auto", ["auto", "off"]) === "auto",
    logLevel: oneOf("LOG_LEVEL", "info", ["silent", "error", "warn", "info", "debug"]),
    maxBodyBytes: integer("MAX_BODY_BYTES", 1024 * 1024, 1, 1024 ** 3),
    trustedHops: integer("TRUSTED_PROXY_HOPS", 0, 0, 16),
    loginThrottle: {
      perLogin: integer("LOGIN_ATTEMPTS", 10, 1, 1_000_000),
      perAddress: integer("LOGIN_ATTEMPTS_PER_ADDRESS", 300, 1, 1_000_000),
      windowSeconds: integer("LOGIN_WINDOW_SECONDS", 900, 1, 86_400),
    },
    settleSeconds: number("SETTLE_SECONDS", isProduction ? 5 : 0, 0, 300),
    drainSeconds: number("DRAIN_SECONDS", 10, 0, 3_600),
    signingSecrets: secrets("SECRETS_SIGNING"),
    accessTokenSecrets: secrets("SECRETS_ACCESS_TOKEN"),
    refreshPeppers: secrets("SECRETS_REFRESH_PEPPER"),
  };
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}

/** An ordered, comma-separated list of base64url secrets of at least 32 bytes. */
function readSecrets(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  isProduction: boolean,
  dataFolder: string,
  faults: string[],
): readonly Buffer[] {
  const given = environment[name];
  if (given === undefined || given === "") {
    if (!isProduction) return [keptSecret(join(dataFolder, `${name.toLowerCase()}.key`))];
    faults.push(
      `${name} must be set in production: a comma-separated list of base64url secrets, the newest first`,
    );
    return [];
  }
  return given.split(",").map((item, index) => {
    const secret = Buffer.from(item.trim(), "base64url");
    if (secret.length < 32) faults.push(`${name} needs at least 32 bytes in entry ${index + 1}`);
    return secret;
  });
}

function keptSecret(path: string): Buffer {
  if (existsSync(path)) return Buffer.from(readFileSync(path, "utf8"), "base64url");
  const secret = randomBytes(32);
  mkdirSync(resolve(path, ".."), { recursive: true });
  writeFileSync(path, secret.toString("base64url"), { mode: 0o600 });
  return secret;
}
