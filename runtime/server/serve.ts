// The process around a service: `node server.js [command]`, signals, exit codes.
import { pino } from "pino";
import { ServiceError } from "../contract/errors.js";
import { applyMigrations } from "../engines/sql/migrations.js";
import type { Log } from "../operations/log.js";
import { connect, type ConnectOptions } from "./connect.js";
import {
  createPrincipalUsage,
  provision,
  readCreatePrincipal,
  type NewPrincipal,
} from "./create-principal.js";
import { openDatabase } from "./engines.js";
import { generatedFolder } from "./generated-folder.js";
import type { ServiceDefinition } from "./service.js";
import { readSettings, SettingsError, type Settings } from "./settings.js";
import { start } from "./start.js";

/**
 * Runs a service until SIGTERM or SIGINT; or applies its migrations (`migrate`), or makes a principal
 * (`create-principal`), and ends. `moduleUrl` is that of the generated server entry. Ends the process with 1 where it
 * cannot do that, and with 2 for a command line that it does not know.
 */
export async function serve(service: ServiceDefinition, moduleUrl: string): Promise<void> {
  try {
    const settings = readSettings(service.name);
    const folder = generatedFolder(moduleUrl);
    const log = processLog(settings);
    const [command, ...args] = process.argv.slice(2);
    if (command === undefined) await run(service, { settings, folder, log });
    else if (command === "migrate" && args.length === 0) await migrate(settings, folder, log);
    else {
      const given = command === "create-principal" ? readCreatePrincipal(args) : null;
      if (given === null || service.identity === undefined) refuseUsage(service);
      await makePrincipal(given, { settings, folder, log });
    }
  } catch (error) {
    refuse(error);
  }
}

async function run(service: ServiceDefinition, options: ConnectOptions): Promise<void> {
  const { log } = options;
  const running = await start(service, options);
  log.info({ url: running.url, operations: service.routes.length }, `${service.name} is ready`);
  let signals = 0;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      signals += 1;
      if (signals > 1) process.exit(130);
      log.info({ signal }, "draining");
      running.stop().then(
        () => process.exit(0),
        (error: unknown) => refuse(error),
      );
    });
  }
}

async function makePrincipal(given: NewPrincipal, options: ConnectOptions): Promise<void> {
  const connection = await connect(options);
  try {
    process.stdout.write(`${await provision(connection, given, process.stdin)}\n`);
  } finally {
    await connection.close();
  }
}

function refuseUsage({ identity }: ServiceDefinition): never {
  const commands = ["migrate", ...(identity === undefined ? [] : [createPrincipalUsage])];
  process.stderr.write(`usage: server.js [${commands.join(" | ")}]\n`);
  process.exit(2);
}

async function migrate(settings: Settings, folder: string, log: Log): Promise<void> {
  const database = await openDatabase(settings.databaseUrl, settings.databasePoolSize);
  try {
    const applied = await applyMigrations(database, folder);
    log.info({ applied }, applied.length === 0 ? "nothing to migrate" : "migrations applied");
  } finally {
    await database.close();
  }
}

function processLog(settings: Settings): Log {
  return pino({
    level: settings.logLevel,
    base: null,
    redact: ["*.password", "*.token", "*.secret", "*.authorization", "*.cookie"],
  });
}

function refuse(error: unknown): never {
  if (error instanceof SettingsError) {
    process.stderr.write(`${error.message}\n`);
  } else if (error instanceof ServiceError) {
    const what = error.cause instanceof Error ? error.cause.message : JSON.stringify(error.context);
    process.stderr.write(`${error.code}: ${what}\n`);
  } else {
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
  }
  process.exit(1);
}
