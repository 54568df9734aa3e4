// The process around a service: `node server.js [command]`, signals, exit codes.
import { fail } from "../contract/errors.js";
import { connect, type ServiceConnection, type ConnectOptions } from "./connect.js";
import { dataCommands } from "./data-commands.js";
import type { ServiceCommand } from "../operations/family.js";
import { generatedFolder } from "./generated-folder.js";
import { familiesOf } from "../families.js";
import { backupCommand, backupUsages } from "./backup/command.js";
import { doctorUsage, runDoctor } from "./doctor/doctor.js";
import { migrateCommand, migrateUsage } from "./migrate-command.js";
import { processLog } from "./process-log.js";
import { logWarnings } from "./process-warnings.js";
import type { ServiceDefinition } from "./service.js";
import { readSettings } from "./settings.js";
import { startFault } from "./start-fault.js";
import { start, type RunningService } from "./start.js";
import { holdFaults } from "./unheld-faults.js";
import { monotonicMillis } from "../ports/ambient.js";

/**
 * Runs a service until SIGTERM or SIGINT; or runs one command and ends: `migrate`, or a command of
 * its families. `moduleUrl` is that of the generated server entry. The process exits with 1 after a
 * fault that it must not survive, with 2 for an unknown command line, and with 130 after a second
 * signal.
 */
export async function serve(service: ServiceDefinition, moduleUrl: string): Promise<void> {
  let host: string | undefined;
  try {
    const [name, ...args] = process.argv.slice(2);
    if (name === "doctor" && args.length === 0)
      return await runDoctor(service, generatedFolder(moduleUrl));
    const command = name === undefined ? run : commandOf(service, name, args);
    if (command === null) refuseUsage(service);
    const uses = onFiles.includes(name ?? "") ? "database" : "everything";
    const settings = readSettings(service, process.env, uses);
    host = settings.host;
    const folder = generatedFolder(moduleUrl);
    await command(service, { settings, folder, log: processLog(settings) });
  } catch (error) {
    refuse(error, host);
  }
}

/** Commands that need no secrets, since they open nothing but the database. */
const onFiles = ["migrate", "backup", "restore"];

type Command = (service: ServiceDefinition, options: ConnectOptions) => Promise<void>;

/**
 * The command of a command line; null if the service has no such command, or its arguments are
 * wrong.
 */
function commandOf(
  service: ServiceDefinition,
  name: string,
  args: readonly string[],
): Command | null {
  if (name === "migrate") return migrateCommand(args);
  if (name === "backup" || name === "restore") return backupCommand(name, args);
  const command = commandsOf(service).find((one) => one.name === name);
  const work = command?.read(args);
  return work ? connectedCommand(work, command?.migrates?.(args) ?? true) : null;
}

function commandsOf(service: ServiceDefinition): readonly ServiceCommand[] {
  const ofFamilies = familiesOf(service).flatMap(({ family, part }) => family.commands(part));
  return [...ofFamilies, ...dataCommands(service)];
}

/**
 * A command that works on the open database and prints a line. Throws `core.configuration` if
 * migrations are pending that it doesn't apply.
 */
function connectedCommand(
  work: (connection: ServiceConnection) => Promise<string>,
  migrates: boolean,
): Command {
  return async (service, options) => {
    const settings = migrates ? options.settings : { ...options.settings, migrateAtStart: false };
    const connection = await connect(service, { ...options, settings });
    try {
      const { pendingMigrations: pending } = connection;
      if (!migrates && pending.length > 0) {
        const text = `the database lacks ${pending.join(", ")}: run migrate, or use the version before`;
        throw fail("core.configuration", {}, { cause: new Error(text) });
      }
      process.stdout.write(`${await work(connection)}\n`);
    } finally {
      await connection.close();
    }
  };
}

/**
 * Milliseconds in which signals count as one: Ctrl-C reaches every process of a terminal, and what
 * started the service passes it on.
 */
const sameMillis = 500;

async function run(service: ServiceDefinition, options: ConnectOptions): Promise<void> {
  const { log } = options;
  let running: RunningService | undefined;
  const stop = (code: number): void => {
    if (running === undefined) process.exit(code);
    running.stop().then(
      () => process.exit(code),
      (error: unknown) => refuse(error),
    );
  };
  logWarnings(log);
  holdFaults(log, options.folder, () => stop(1));
  running = await start(service, options);
  let toldAt: number | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (toldAt !== undefined) {
        if (monotonicMillis() - toldAt > sameMillis) process.exit(130);
        return;
      }
      toldAt = monotonicMillis();
      log.info({ signal }, "draining");
      stop(0);
    });
  }
  log.info({ url: running.url, operations: service.routes.length }, `${service.name} is ready`);
}

function refuseUsage(service: ServiceDefinition): never {
  const usages = commandsOf(service).map(({ name, usage }) =>
    usage === undefined ? name : `${name} ${usage}`,
  );
  process.stderr.write(
    `usage: server.js [${[migrateUsage, ...backupUsages, doctorUsage, ...usages].join(" | ")}]\n`,
  );
  process.exit(2);
}

function refuse(error: unknown, host?: string): never {
  process.stderr.write(`${startFault(error, host)}\n`);
  process.exit(1);
}
