// `node server.js doctor`: what an operator should know about a service, each with what to do. It
// changes nothing, and may run beside the service.
import { accessSync, constants, existsSync } from "node:fs";
import { ServiceError } from "../../contract/errors.js";
import { divergedMigrations } from "../../engines/sql/migration-plan.js";
import { pendingMigrations, type MigrationTarget } from "../../engines/sql/migrations.js";
import { familiesOf } from "../../families.js";
import { printedName, type DeclaredMetrics } from "../../operations/metric.js";
import { monotonicMillis, sleep } from "../../ports/ambient.js";
import type { Database } from "../../ports/database.js";
import { notice, ok, wrong, type Symptom } from "../../ports/symptom.js";
import type { SignalBus } from "../../ports/bus.js";
import { silentLog } from "../../ports/log.js";
import { within } from "../../work/within.js";
import { openBus } from "../bus.js";
import { connect, type ServiceConnection } from "../connect.js";
import { examineDatabase, openDatabase } from "../engines.js";
import { probesOf } from "../probes.js";
import { firstNameOf, type ServiceDefinition } from "../service.js";
import { readSettings, SettingsError, type Settings } from "../settings.js";
import { startFault } from "../start-fault.js";

export const doctorUsage = "doctor";

/** How long each system has to answer, in milliseconds. */
const patienceMillis = 5_000;
/** Work that has waited for longer is stuck, or there is too much of it. */
const longSeconds = 300;
/** The first version of Node.js that its makers still mend. */
const oldestNode = 22;

/** Prints what was found, a line each; the exit code is 1 if something is wrong. */
export async function runDoctor(service: ServiceDefinition, folder: string): Promise<void> {
  let isWrong = false;
  for await (const { state, what, text } of examineService(service, folder)) {
    isWrong ||= state === "wrong";
    process.stdout.write(`${state.padEnd(8)}${what.padEnd(14)}${text}\n`);
  }
  if (isWrong) process.exitCode = 1;
}

async function* examineService(
  service: ServiceDefinition,
  folder: string,
): AsyncGenerator<Symptom> {
  yield ofNode(process.versions.node);
  let settings: Settings;
  try {
    settings = readSettings(service, process.env, "everything");
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const fault of error.faults) yield wrong("settings", fault);
    return;
  }
  const { isProduction } = settings;
  yield isProduction
    ? ok("settings", "production, and all are given")
    : notice("settings", "development: in production, set NODE_ENV=production and secrets");
  yield* ofFolder(settings);
  const file = settings.databaseUrl.replace(/^sqlite:/, "");
  // Opening it would make it.
  if (file !== settings.databaseUrl && !existsSync(file))
    return yield notice("database", `${file} is not there yet: the service makes it at its start`);
  const found = await examineStored(settings, folder);
  yield* found;
  const stored = found.filter(({ what }) => ["database", "migrations"].includes(what));
  if (stored.some(({ state }) => state !== "ok")) return;
  yield* ofBus(settings, firstNameOf(service));
  yield* ofFamilies(service, settings, folder);
}

function ofNode(version: string): Symptom {
  return Number.parseInt(version, 10) < oldestNode
    ? notice("Node.js", `${version} is no longer mended by its makers: use ${oldestNode} or later`)
    : ok("Node.js", version);
}

function* ofFolder({ dataFolder }: Settings): Generator<Symptom> {
  if (!existsSync(dataFolder)) return;
  try {
    accessSync(dataFolder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    yield wrong("DATA_DIR", `${dataFolder} can't be written by this account: give it the folder`);
  }
}

/** The database itself, and whether it is the one of this version. */
async function examineStored(settings: Settings, folder: string): Promise<readonly Symptom[]> {
  const found: Symptom[] = [];
  let database: (Database & MigrationTarget) | undefined;
  try {
    database = await openDatabase(settings.databaseUrl, {
      connections: settings.databasePoolSize,
      isPooled: settings.isDatabasePooled,
      directUrl: settings.directDatabaseUrl,
    });
    found.push(...(await examineDatabase(database, settings)));
    found.push(...(await ofMigrations(database, folder)));
    if (found.every(({ what, state }) => what !== "migrations" || state === "ok"))
      await database.probe();
    found.push(ok("database", "answers"));
  } catch (error) {
    found.push(wrong("database", tell(error)));
  } finally {
    await database?.close();
  }
  return found;
}

async function ofMigrations(
  database: MigrationTarget,
  folder: string,
): Promise<readonly Symptom[]> {
  const diverged = await divergedMigrations(database, folder);
  if (diverged.length > 0)
    return [
      notice("migrations", `${diverged.length} were applied that aren't here: see migrate --plan`),
    ];
  const pending = await pendingMigrations(database, folder);
  return [
    pending.length > 0
      ? notice("migrations", `${pending.join(", ")} wait: run migrate`)
      : ok("migrations", "all are applied"),
  ];
}

async function* ofBus({ busUrl }: Settings, name: string): AsyncGenerator<Symptom> {
  const bus = await openBus(busUrl, name, silentLog);
  if (bus === null) return;
  try {
    await waitForBus(bus);
    yield ok("bus", "answers");
  } catch (error) {
    yield wrong("bus", `BUS_URL: ${tell(error)}: signals don't reach other processes`);
  } finally {
    await bus.close();
  }
}

/** Waits until a bus that was opened just now answers; rejects with why it doesn't. */
async function waitForBus(bus: Pick<SignalBus, "probe">): Promise<void> {
  const until = monotonicMillis() + patienceMillis;
  for (;;) {
    try {
      return await bus.probe();
    } catch (error) {
      if (monotonicMillis() > until) throw error;
      await sleep(100);
    }
  }
}

/** What families need, and what waits in them. */
async function* ofFamilies(
  service: ServiceDefinition,
  settings: Settings,
  folder: string,
): AsyncGenerator<Symptom> {
  const options = { settings: { ...settings, migrateAtStart: false }, folder, log: silentLog };
  const connection = await connect(service, options);
  try {
    const { needed, helpful } = probesOf(service, connection, []);
    const late = (): Error => new Error(`no answer in ${patienceMillis / 1_000} s`);
    for (const [probes, found] of [
      [needed, wrong],
      [helpful, notice],
    ] as const)
      for (const [name, probe] of Object.entries(probes).filter(([one]) => one !== "migrations"))
        yield await within(patienceMillis, probe(), late).then(
          () => ok(name, "answers"),
          (error: unknown) => found(name, tell(error)),
        );
    yield* ofWaiting(service, connection);
  } finally {
    await connection.close();
  }
}

/** Gauges of what waits for long, and of what was given up. */
async function* ofWaiting(
  service: ServiceDefinition,
  connection: ServiceConnection,
): AsyncGenerator<Symptom> {
  const declared: DeclaredMetrics = Object.assign(
    {},
    ...familiesOf(service).map(({ family, part }) => family.metrics(part, connection)),
  );
  let count = 0;
  for (const [name, metric] of Object.entries(declared)) {
    const value = metric.type === "gauge" ? await metric.read() : 0;
    if (typeof value !== "number") continue;
    const isLong = name.endsWith("_lag_seconds") && value > longSeconds;
    if (!isLong && !(name.endsWith("_dead") && value > 0)) continue;
    count += 1;
    yield notice("backlog", `${printedName(name, metric)} is ${Math.round(value)}: ${metric.help}`);
  }
  if (count === 0) yield ok("backlog", "nothing waits for long, and nothing was given up");
}

/** An error in one line. */
function tell(error: unknown): string {
  if (!(error instanceof ServiceError))
    return error instanceof Error ? error.message : String(error);
  return startFault(error, undefined).replaceAll(/\s+/g, " ");
}
