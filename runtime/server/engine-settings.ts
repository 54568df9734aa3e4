// The settings that say where the engines are: the database and the ways to it, and the bus.
import { addressFault, poolingFault } from "../engines/postgres/addresses.js";
import { redisAddressFault } from "../engines/redis/addresses.js";
import type { Environment } from "../operations/environment.js";
import { databaseFile } from "./database-file.js";
import type { ServiceDefinition } from "./service.js";

export interface EngineSettings {
  /** `sqlite:<path>` or a `postgres:` URL. */
  readonly databaseUrl: string;
  /** Whether `databaseUrl` is a pooler's, which lends a session for each transaction. */
  readonly isDatabasePooled: boolean;
  /**
   * The URL for what needs a session of its own, migrations and LISTEN; null if there is only a
   * pooler.
   */
  readonly directDatabaseUrl: string | null;
  /** A replica of the database, for documents that say so; null if there is none. */
  readonly replicaDatabaseUrl: string | null;
  /**
   * The path of a database that has neither the usual name nor the service's; null for any other,
   * and for one that is given.
   */
  readonly foundDatabase: string | null;
  /**
   * A `postgres:`, `redis:` or `redis+sentinel:` URL, over which processes tell each other what
   * happens; null if they don't.
   */
  readonly busUrl: string | null;
  /** Connections to PostgreSQL. */
  readonly databasePoolSize: number;
  /** Connections of SQLite that read outside the event loop. */
  readonly databaseReaders: number;
  /** Whether pending migrations are applied at start. */
  readonly migrateAtStart: boolean;
}

type ServiceNames = Pick<ServiceDefinition, "name" | "was">;

/** Where the engines are, and how many connections they have. */
export function readEngines(
  environment: Environment,
  service: ServiceNames,
  dataFolder: string,
): EngineSettings {
  const { faults } = environment;
  const { databaseUrl, foundDatabase } = readDatabase(environment, service, dataFolder);
  if (databaseUrl === "sqlite::memory:") {
    faults.push(
      "DATABASE_URL must name a file: readers and the writer have connections of their own",
    );
  }
  if (!/^(?:sqlite:.+|postgres(?:ql)?:\/\/.+)$/.test(databaseUrl)) {
    faults.push("DATABASE_URL must be sqlite:<path> or a postgres:// URL");
  }
  checkAddresses("DATABASE_URL", databaseUrl, faults);
  const pooling = readPooling(environment, databaseUrl);
  const busUrl = readBusUrl(environment, databaseUrl, pooling);
  return {
    databaseUrl,
    ...pooling,
    foundDatabase,
    databasePoolSize: environment.integer("DATABASE_POOL", 10, 1, 1_000),
    databaseReaders: environment.integer("READERS", 4, 1, 64),
    migrateAtStart: readMigrate(environment, pooling),
    busUrl: busUrl === "none" ? null : busUrl,
  };
}

type PoolingSettings = Pick<
  EngineSettings,
  "isDatabasePooled" | "directDatabaseUrl" | "replicaDatabaseUrl"
>;

/** Whether a pooler is in front of the database, and the way around it. */
function readPooling(environment: Environment, databaseUrl: string): PoolingSettings {
  const { faults } = environment;
  const isPostgres = databaseUrl.startsWith("postgres");
  const pooler = environment.oneOf("DATABASE_POOLER", "none", ["none", "transaction"]);
  const direct = environment.text("DATABASE_DIRECT_URL", "");
  const replica = environment.text("DATABASE_REPLICA_URL", "");
  const isDatabasePooled = pooler === "transaction";
  for (const [name, isGiven] of [
    ["DATABASE_POOLER", isDatabasePooled],
    ["DATABASE_DIRECT_URL", direct !== ""],
    ["DATABASE_REPLICA_URL", replica !== ""],
  ] as const)
    if (isGiven && !isPostgres) faults.push(`${name} is for PostgreSQL: DATABASE_URL is not`);
  for (const [name, url] of [
    ["DATABASE_DIRECT_URL", direct],
    ["DATABASE_REPLICA_URL", replica],
  ] as const) {
    if (url === "") continue;
    if (!isPostgresUrl(url)) faults.push(`${name} must be a postgres:// URL`);
    checkAddresses(name, url, faults);
  }
  if (/^[^?#]*,|[?&](?:target_session_attrs=|host=[^&]*,)/.test(replica))
    faults.push("DATABASE_REPLICA_URL must name one server, without target_session_attrs");
  const fault = isDatabasePooled && isPostgres ? poolingFault(databaseUrl) : null;
  if (fault !== null) faults.push(`DATABASE_URL ${fault}`);
  const usual = isPostgres && !isDatabasePooled ? databaseUrl : null;
  return {
    isDatabasePooled,
    directDatabaseUrl: direct === "" ? usual : direct,
    replicaDatabaseUrl: replica === "" ? null : replica,
  };
}

/** Where processes tell each other what happens, or `none`. */
function readBusUrl(
  environment: Environment,
  databaseUrl: string,
  { isDatabasePooled, directDatabaseUrl }: PoolingSettings,
): string {
  const { faults } = environment;
  const busUrl = environment.text("BUS_URL", directDatabaseUrl ?? "none");
  if (busUrl !== "none" && !/^(?:postgres(?:ql)?|rediss?(?:\+sentinel)?):\/\/.+$/.test(busUrl))
    faults.push("BUS_URL must be a postgres://, redis:// or redis+sentinel:// URL, or none");
  else if (busUrl !== databaseUrl && busUrl !== directDatabaseUrl)
    checkAddresses("BUS_URL", busUrl, faults);
  if (!isDatabasePooled) return busUrl;
  if (busUrl === databaseUrl)
    faults.push("BUS_URL can't be the pooler's: set DATABASE_DIRECT_URL, a redis:// URL, or none");
  if (environment.text("BUS_URL", "") === "" && directDatabaseUrl === null)
    faults.push("BUS_URL or DATABASE_DIRECT_URL must be set: signals can't pass the pooler");
  return busUrl;
}

/** Whether pending migrations are applied at start. */
function readMigrate(
  environment: Environment,
  { isDatabasePooled, directDatabaseUrl }: PoolingSettings,
): boolean {
  const migrates = environment.oneOf("MIGRATE", "auto", ["auto", "off"]) === "auto";
  if (migrates && isDatabasePooled && directDatabaseUrl === null)
    environment.faults.push(
      "DATABASE_DIRECT_URL must be set, or MIGRATE=off: migrations can't pass the pooler",
    );
  return migrates;
}

function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:\/\/.+$/.test(url);
}

/** Where the database is; without DATABASE_URL, a file in the data folder. */
function readDatabase(
  environment: Environment,
  { name, was }: ServiceNames,
  dataFolder: string,
): Pick<EngineSettings, "databaseUrl" | "foundDatabase"> {
  const given = environment.text("DATABASE_URL", "");
  if (given !== "") return { databaseUrl: given, foundDatabase: null };
  const file = databaseFile(dataFolder, [name, ...(was === undefined ? [] : [was])]);
  if ("fault" in file) environment.faults.push(file.fault);
  const { path, isFound } = "fault" in file ? { path: "unknown", isFound: false } : file;
  return { databaseUrl: `sqlite:${path}`, foundDatabase: isFound ? path : null };
}

function checkAddresses(name: string, url: string, faults: string[]): void {
  const faultOf = isPostgresUrl(url)
    ? addressFault
    : url.startsWith("redis")
      ? redisAddressFault
      : null;
  const fault = faultOf?.(url) ?? null;
  if (fault !== null) faults.push(`${name} ${fault}`);
}
