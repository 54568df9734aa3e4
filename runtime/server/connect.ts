// Opens a service's database, applies migrations, and makes what operations need. The server,
// scripts and tools begin here.
import { addCounts, type Erased, type ErasedCounts } from "../operations/erased.js";
import type { ExportedLine, ExportedPerson } from "../operations/exported.js";
import type { Recorded } from "../operations/recorded.js";
import { defaultTenant } from "../contract/default-tenant.js";
import { fail, ServiceError } from "../contract/errors.js";
import { limits } from "../contract/limits.js";
import { keepPrivate } from "../engines/private-files.js";
import {
  applyMigrations,
  pendingMigrations,
  type MigrationTarget,
} from "../engines/sql/migrations.js";
import { AnswerBudget } from "../operations/answer-budget.js";
import { ExecutionContext } from "../operations/context.js";
import type { Departed, StagedEvent } from "../operations/invocation-facts.js";
import type { Resources } from "../operations/resources.js";
import { Lifetime } from "../ports/lifetime.js";
import type { OpenedResource, Opening, ServiceAtWork } from "../operations/family.js";
import { systemClock, type Clock } from "../ports/clock.js";
import type { Log } from "../ports/log.js";
import { silentObserver, type Observer } from "../ports/observer.js";
import type { StoreKey } from "../ports/store-key.js";
import type { ResourceKey } from "../ports/resource-key.js";
import { nothingKept } from "../operations/kept-values.js";
import { aesSealer } from "../operations/sealer.js";
import { hmacSigner } from "../operations/hmac-signer.js";
import { ownMetadata } from "../operations/invoke-as.js";
import type { SignalPlane } from "../ports/signals.js";
import { DatabaseRefusal } from "../ports/database.js";
import { expectDatabase } from "./backup/continuous/open.js";
import { openDatabase, openObjects } from "./engines.js";
import { familiesOf, type FamilyParts } from "../families.js";
import { openLimiter } from "./limiter.js";
import { publicUrlOf } from "./public-url.js";
import { openAll, type Opened } from "./opened.js";
import { firstNameOf, type ServiceDefinition } from "./service.js";
import type { Settings } from "./settings.js";
import { openTracer } from "./tracing.js";
import { monotonicMillis, sleep } from "../ports/ambient.js";

export interface ConnectOptions {
  readonly settings: Settings;
  /** The generated folder, for migrations and documents. */
  readonly folder: string;
  readonly log: Log;
  /** The machine's clock if left out. */
  readonly clock?: Clock;
  /** Who sees what operations commit; nobody if left out. */
  readonly observer?: Observer;
}

/** An open database, with everything else that operations need. */
export interface ServiceConnection extends ServiceAtWork {
  /**
   * Migrations that have not been applied, because the settings leave them to the `migrate`
   * command.
   */
  readonly pendingMigrations: readonly string[];
  /**
   * Rejects while processes can't count rates together; undefined if that depends on the database
   * alone.
   */
  readonly probeLimiter: (() => Promise<void>) | undefined;
  /**
   * Says where the service listens: outside production this is its public URL if no setting has
   * one.
   */
  listensAt(url: string): void;
  /** See `PublicUrl.siblings`. */
  readonly siblings: readonly string[] | null;
  /**
   * Sends signals to this plane from now on. Until then durable ones wait in the database, and
   * ephemeral ones are lost.
   */
  signalsTo(plane: SignalPlane): void;
  close(): Promise<void>;
}

/**
 * Opens the database that the settings name and, if they say so, applies pending migrations. Waits
 * up to 30 s for a database that is unavailable, then rejects with `core.unavailable`. If it
 * rejects, nothing stays open.
 */
export function connect(
  service: ConnectedService,
  options: ConnectOptions,
): Promise<ServiceConnection> {
  return openAll((opened) => openConnection(service, options, opened));
}

/** What a connection needs to know of a service. */
type ConnectedService = Pick<ServiceDefinition, "name" | "was" | "deadlineSeconds" | "kept"> &
  FamilyParts &
  Partial<Pick<ServiceDefinition, "routes">>;

async function openConnection(
  service: ConnectedService,
  { settings, folder, log, clock = systemClock, observer = silentObserver }: ConnectOptions,
  opened: Opened,
): Promise<ServiceConnection> {
  const deadlineSeconds = service.deadlineSeconds ?? limits.defaultDeadlineSeconds;
  const deadlines = (service.routes ?? []).map((route) => route.deadlineSeconds ?? deadlineSeconds);
  keepPrivate(settings.dataFolder);
  tellFoundDatabase(settings, log);
  await expectDatabase(service, settings);
  const tracer = await openTracer(log);
  // Behind everything that may still be recorded.
  opened.add(() => tracer?.flush());
  const database = await openDatabase(settings.databaseUrl, {
    isPooled: settings.isDatabasePooled,
    directUrl: settings.directDatabaseUrl,
    replicaUrl: settings.replicaDatabaseUrl,
    connections: settings.databasePoolSize,
    readers: settings.databaseReaders,
    isArchived: settings.backup !== null,
    longestSeconds: Math.max(deadlineSeconds, ...deadlines),
    tables: familiesOf(service).flatMap(({ family, part }) => family.tables(part)),
    log,
  });
  opened.add(() => database.close());
  const pending = await patiently(log, () =>
    applyOrListPending(database, { settings, folder, log }),
  );
  await patiently(log, () => database.admit());
  const signer = hmacSigner(settings.signingSecrets);
  const { read: publicUrl, listensAt, siblings } = publicUrlOf(settings);
  const name = firstNameOf(service);
  const rates = await openLimiter(settings, name, { clock, database, log });
  opened.add(rates.close);
  const held = heldResources();
  const listeners: Listeners = { woken: new Map(), plane: silentPlane };
  const resources: Resources = {
    deadlineSeconds,
    clock,
    database,
    log,
    tracer,
    observer,
    signer,
    limiter: rates.limiter,
    publicUrl,
    sealer: aesSealer(settings.signingSecrets, "outbox"),
    kept: service.kept ?? nothingKept,
    familySettings: settings.families,
    ...amongFamilies(service),
    readLimits: settings.readLimits,
    queryBudgets: settings.queryBudgets,
    answers: new AnswerBudget(settings.connections.answerBytes),
    of: held.of,
    ...callListeners(listeners),
  };
  await openFamilies(service, { ...resources, name, doors: { objects: openObjects } }, (one) => {
    opened.add(one.close);
    held.add(one);
  });
  const newContext = contextsOf(resources);
  return {
    ...resources,
    pendingMigrations: pending,
    probeLimiter: rates.probe,
    context: newContext,
    write(operationId, work, tenant) {
      const context = newContext(operationId, tenant);
      return context.commit(() => work(context));
    },
    listensAt,
    siblings,
    signalsTo(given) {
      listeners.plane = given;
    },
    whenWoken(key, woken) {
      listeners.woken.set(key, woken);
    },
    close: () => opened.close(),
  };
}

function tellFoundDatabase({ foundDatabase }: Settings, log: Log): void {
  const text = "the database is called otherwise than the service, and stays where it is";
  if (foundDatabase !== null) log.info({ file: foundDatabase }, text);
}

/**
 * Has families open what they are asked for, one after the other: each may use what those before
 * have opened.
 */
async function openFamilies(
  parts: FamilyParts,
  service: Opening,
  take: (one: OpenedResource) => void,
): Promise<void> {
  for (const { family, part } of familiesOf(parts)) {
    const opened = await family.open(part, service, service.familySettings[family.member]);
    for (const one of opened) take(one);
  }
}

/** Who is told when operations have staged work; there may be nobody yet. */
interface Listeners {
  readonly woken: Map<StoreKey<unknown>, () => void>;
  plane: SignalPlane;
}

const silentPlane: SignalPlane = {
  wake: () => undefined,
  credentialsEnded: () => undefined,
  publish: () => undefined,
};

function callListeners(listeners: Listeners): Pick<Resources, "signals" | "wake"> {
  return {
    signals: {
      wake: () => listeners.plane.wake(),
      credentialsEnded: (of) => listeners.plane.credentialsEnded(of),
      publish: (tenant, to, signal) => listeners.plane.publish(tenant, to, signal),
    },
    wake: (key) => listeners.woken.get(key)?.(),
  };
}

/**
 * Has each family do its part with what others do, one after the other because they share a
 * transaction.
 */
function amongFamilies(parts: FamilyParts) {
  const families = familiesOf(parts);
  const recording = families.filter(({ family }) => family.recorded !== null);
  return {
    async staged(context: ExecutionContext, event: StagedEvent): Promise<void> {
      for (const { family, part } of families) await family.staged(part, context, event);
    },
    async departed(context: ExecutionContext, who: Departed): Promise<void> {
      for (const { family, part } of families) await family.departed(part, context, who);
    },
    recorded:
      recording.length === 0
        ? null
        : async (context: object, changes: readonly Recorded[]): Promise<void> => {
            for (const { family, part } of recording)
              // Only contexts have transactions that end.
              await family.recorded?.(part, context as ExecutionContext, changes);
          },
    async *exported(context: ExecutionContext, who: ExportedPerson): AsyncGenerator<ExportedLine> {
      for (const { family, part } of families) yield* family.exported(part, context, who);
    },
    async erased(context: ExecutionContext, who: Erased): Promise<ErasedCounts> {
      const counts: Record<string, number> = {};
      for (const { family, part } of families)
        addCounts(counts, await family.erased(part, context, who));
      return counts;
    },
  };
}

/** What families have opened, by its keys. */
function heldResources() {
  const values = new Map<ResourceKey<unknown>, unknown>();
  return {
    add: ({ key, value }: OpenedResource): void => void values.set(key, value),
    of<Resource>(key: ResourceKey<Resource>): Resource {
      if (values.has(key)) return values.get(key) as Resource;
      const cause = new Error(`the service has no ${key.name}`);
      throw fail("core.configuration", {}, { cause });
    },
  };
}

/** Makes contexts for work of the service itself. */
function contextsOf(resources: Resources): ServiceConnection["context"] {
  return (operationId, tenant = defaultTenant, lifetime = Lifetime.unlimited(), trace) =>
    new ExecutionContext(resources, {
      operationId,
      metadata: ownMetadata(trace === undefined ? {} : { trace }),
      trace: trace?.span ?? null,
      tenant,
      lifetime,
    });
}

/** How long to wait for the database at start, and between two attempts, in milliseconds. */
const patience = { millis: 30_000, every: 1_000 };

/** Applies pending migrations, or returns them if the settings leave them to `migrate`. */
async function applyOrListPending(
  database: MigrationTarget,
  { settings, folder, log }: ConnectOptions,
): Promise<readonly string[]> {
  if (!settings.migrateAtStart) return pendingMigrations(database, folder);
  const applied = await applyMigrations(database, folder, {
    onWaiting: () => log.info({}, "another process migrates: waiting for it to end"),
  });
  if (applied.length > 0) log.info({ applied }, "migrations applied");
  await expectSameDatabase(database, settings, folder);
  return [];
}

/**
 * Throws `core.configuration` if what was migrated by DATABASE_DIRECT_URL is not what serves. Until
 * somebody looks, the service would work without a rule that is in the migrations.
 */
export async function expectSameDatabase(
  database: MigrationTarget,
  { databaseUrl, directDatabaseUrl }: Settings,
  folder: string,
): Promise<void> {
  if (directDatabaseUrl === null || directDatabaseUrl === databaseUrl) return;
  const [missing] = await pendingMigrations(database, folder);
  if (missing === undefined) return;
  const text = `DATABASE_DIRECT_URL: ${missing} has been applied there, and DATABASE_URL hasn't got it: they name different databases or schemas`;
  throw fail("core.configuration", {}, { cause: new Error(text) });
}

/** Does what needs the database; waits for one that is unavailable. */
async function patiently<T>(log: Log, work: () => Promise<T>): Promise<T> {
  const until = monotonicMillis() + patience.millis;
  for (let isTold = false; ; isTold = true) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error) || monotonicMillis() > until) throw error;
      if (!isTold) log.warn({ err: error }, "waiting for the database, up to 30 s");
      await sleep(patience.every);
    }
  }
}

/** Whether waiting may help: not where the database refuses the service, such as its password. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.code !== "core.unavailable") return false;
  return !(error.cause instanceof DatabaseRefusal) || error.cause.mayPass;
}
