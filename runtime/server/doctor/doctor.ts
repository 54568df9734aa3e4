// `node server.js doctor`: what an operator should know about a service, each with what to do. It
// changes nothing, and may run beside the service.
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
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
import { tellReason } from "../backup/continuous/reason.js";
import { openBus } from "../bus.js";
import { connect, type ServiceConnection } from "../connect.js";
import { examineFile, examineReplicaAt, examineServer, openDatabase } from "../engines.js";
import { examineBackup } from "./backup.js";
import { examineDisks } from "./disks.js";
import { probesOf } from "../probes.js";
import { firstNameOf, type ServiceDefinition } from "../service.js";
import { readSettings, SettingsError, type Settings } from "../settings.js";

export const doctorUsage = "doctor";

/** How long each system has to answer, in milliseconds. */
const patienceMillis = 5_000;
/** Work that has waited for longer is stuck, or there is too much of it. */
const longSeconds = 300;
/** The first version of Node.js that its makers still mend. */
const oldestNode = 22;

/**
 * Prints what was found, a line each, and ends the process: with 1 if something is wrong. What
 * doesn't answer may hold connections that nobody could close.
 */
export async function runDoctor(service: ServiceDefinition, folder: string): Promise<never> {
  // Who reads the lines may want only the first.
  process.stdout.on("error", () => process.exit(1));
  let isWrong = false;
  for await (const { state, what, text } of examineService(service, folder)) {
    isWrong ||= state === "wrong";
    process.stdout.write(`${state.padEnd(8)}${what.padEnd(14)}${text}\n`);
  }
  await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  process.exit(isWrong ? 1 : 0);
}

async function* examineService(
  service: ServiceDefinition,
  folder: string,
): AsyncGenerator<Symptom> {
  yield ofNode(process.versions.node);
  let settings: Settings;
  try {
    settings = readSettings(service, process.env, "look");
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const fault of error.faults) yield wrong("settings", fault);
    return;
  }
  yield settings.isProduction
    ? ok("settings", "production, and all are given")
    : notice("settings", "development: in production, set NODE_ENV=production and secrets");
  yield* ofFolder(settings);
  const folders = foldersOf(service, settings);
  yield* examineDisks([settings.dataFolder, ...databaseFolder(settings), ...folders]);
  const found = await examineStored(settings, folder);
  yield* found;
  const stored = found.filter(({ what }) => ["database", "migrations"].includes(what));
  if (stored.some(({ state }) => state !== "ok")) return;
  yield* ofBackup(service, settings);
  yield* ofBus(settings, firstNameOf(service));
  const missing = folders.filter((path) => !existsSync(path));
  yield* missing.map((path) =>
    notice("files", `${path} is not there: is OBJECTS_URL right, its disk mounted?`),
  );
  // The service would make them.
  if (missing.length === 0) yield* ofFamilies(service, settings, folder);
}

/** Folders of families' files. */
function foldersOf(service: ServiceDefinition, settings: Settings): readonly string[] {
  return familiesOf(service).flatMap(({ family }) =>
    Object.values(family.folders(settings.families[family.member])),
  );
}

function databaseFolder({ databaseUrl }: Settings): readonly string[] {
  const [, path] = /^sqlite:(.+)$/s.exec(databaseUrl) ?? [];
  return path === undefined ? [] : [dirname(path)];
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
    found.push(...(await examineFile(settings.databaseUrl)));
    // There is nothing to work on, and opening it would make it.
    if (found.some(({ what }) => what === "database")) return found;
    const { databasePoolSize: connections, isDatabasePooled: isPooled } = settings;
    const { directDatabaseUrl: directUrl } = settings;
    database = await openDatabase(settings.databaseUrl, { connections, isPooled, directUrl });
    // One for signals, and one to cancel.
    found.push(...(await inTime(examineServer(database, connections + 2))));
    found.push(...(await inTime(ofMigrations(database, settings, folder))));
    if (found.every(({ what, state }) => what !== "migrations" || state === "ok")) {
      await inTime(database.probe());
      found.push(ok("database", "takes writes"));
    }
    if (directUrl !== null && directUrl !== settings.databaseUrl)
      found.push(await ofDirectUrl(directUrl));
    if (settings.replicaDatabaseUrl !== null)
      found.push(await ofReplica(database, settings.replicaDatabaseUrl));
  } catch (error) {
    found.push(wrong("database", tell(error)));
  } finally {
    await closeInTime(database);
  }
  return found;
}

/** The way around a pooler, by which migrations and signals go. */
async function ofDirectUrl(url: string): Promise<Symptom> {
  const database = await openDatabase(url);
  try {
    await inTime(database.admit());
    return ok("direct URL", "answers");
  } catch (error) {
    return wrong("direct URL", `DATABASE_DIRECT_URL: ${tell(error)}`);
  } finally {
    await closeInTime(database);
  }
}

async function ofReplica(database: MigrationTarget, url: string): Promise<Symptom> {
  try {
    return await inTime(examineReplicaAt(database, url));
  } catch (error) {
    return wrong("replica", `DATABASE_REPLICA_URL: ${tell(error)}`);
  }
}

function inTime<T>(work: Promise<T>): Promise<T> {
  const late = (): Error => new Error(`no answer in ${patienceMillis / 1_000} s`);
  return within(patienceMillis, work, late);
}

async function closeInTime(opened: { close(): Promise<void> } | null | undefined): Promise<void> {
  if (opened != null) await inTime(opened.close()).catch(() => undefined);
}

async function ofMigrations(
  database: MigrationTarget,
  { migrateAtStart }: Settings,
  folder: string,
): Promise<readonly Symptom[]> {
  const diverged = await divergedMigrations(database, folder);
  if (diverged.length > 0)
    return [
      notice("migrations", `${diverged.length} were applied that aren't here: see migrate --plan`),
    ];
  const pending = await pendingMigrations(database, folder);
  if (pending.length === 0) return [ok("migrations", "all are applied")];
  const text = `${pending.join(", ")} wait`;
  return [
    migrateAtStart
      ? notice("migrations", `${text}: the service applies them at its start, or run migrate`)
      : wrong("migrations", `${text}, and MIGRATE is off: run migrate`),
  ];
}

async function* ofBackup(service: ServiceDefinition, settings: Settings): AsyncGenerator<Symptom> {
  try {
    const found = await inTime(examineBackup(service, settings));
    if (found !== null) yield found;
  } catch (error) {
    const isOurs = error instanceof ServiceError && error.code === "core.conflict";
    yield wrong("backup", isOurs ? tell(error) : `BACKUP_URL: ${tellReason(error)}`);
  }
}

async function* ofBus({ busUrl }: Settings, name: string): AsyncGenerator<Symptom> {
  let bus: SignalBus | null = null;
  try {
    bus = await openBus(busUrl, name, silentLog);
    if (bus === null) return;
    await waitForBus(bus);
    yield ok("bus", "answers");
  } catch (error) {
    yield wrong("bus", `BUS_URL: ${tell(error)}: signals don't reach other processes`);
  } finally {
    await closeInTime(bus);
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
  const connection = await inTime(connect(service, options)).catch((error: unknown) => error);
  if (!isConnection(connection)) return yield wrong("service", tell(connection));
  try {
    const { needed, helpful } = probesOf(service, connection, []);
    for (const [probes, found] of [
      [needed, wrong],
      [helpful, notice],
    ] as const)
      for (const [name, probe] of Object.entries(probes).filter(([one]) => one !== "migrations"))
        yield await inTime(probe()).then(
          () => ok(name, "answers"),
          (error: unknown) => found(name, tell(error)),
        );
    yield* ofWaiting(service, connection);
  } finally {
    await closeInTime(connection);
  }
}

function isConnection(value: unknown): value is ServiceConnection {
  return typeof value === "object" && value !== null && "pendingMigrations" in value;
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

/** An error in one line, with what is behind it. */
function tell(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const behind = cause instanceof Error ? tell(cause) : "";
  if (error instanceof ServiceError) return behind === "" ? error.code : behind;
  const { message } = error;
  const text = behind === "" || message.includes(behind) ? message : `${message}: ${behind}`;
  return text.replaceAll(/\s+/g, " ");
}
