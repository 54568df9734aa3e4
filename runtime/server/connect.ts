// A service's database with its migrations applied: what the server, scripts and tools begin with.
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../contract/errors.js";
import { limits } from "../contract/limits.js";
import { tokenIssuer } from "../families/identity/access-token.js";
import { attempts } from "../operations/attempts.js";
import { externalTokenKeys } from "../families/identity/external-keys.js";
import { localTokenKeys } from "../families/identity/token-keys.js";
import type { TokenIssuer } from "../ports/tokens.js";
import { keepPrivate } from "../engines/private-files.js";
import {
  applyMigrations,
  pendingMigrations,
  type MigrationTarget,
} from "../engines/sql/migrations.js";
import { AnswerBudget } from "../operations/answer-budget.js";
import { ExecutionContext, type Resources } from "../operations/context.js";
import { Lifetime } from "../ports/lifetime.js";
import type { ServiceAtWork } from "../operations/family.js";
import { systemClock, type Clock } from "../ports/clock.js";
import type { Log } from "../ports/log.js";
import { silentObserver, type Observer } from "../ports/observer.js";
import type { StoreKey } from "../ports/store-key.js";
import type { RateLimiter } from "../ports/rate-limiter.js";
import { aesSealer } from "../operations/sealer.js";
import { hmacSigner } from "../operations/hmac-signer.js";
import { uuidv7 } from "../contract/uuid.js";
import type { SignalPlane } from "../ports/signals.js";
import { openDatabase } from "./engines.js";
import { familiesOf, type FamilyParts } from "./families.js";
import { openLimiter } from "./limiter.js";
import { openObjects, type OpenObjects } from "./objects.js";
import { publicUrlOf } from "./public-url.js";
import type { ServiceDefinition } from "./service.js";
import type { Settings } from "./settings.js";

/** Rows of requests that carry no identity belong to this tenant. */
export const defaultTenant = "default";

export interface ConnectOptions {
  readonly settings: Settings;
  /** The generated folder, for migrations and documents. */
  readonly folder: string;
  readonly log: Log;
  /** The machine's where left out. */
  readonly clock?: Clock;
  /** Nobody where left out. */
  readonly observer?: Observer;
}

/** An open database with what operations need besides it. */
export interface Connection extends ServiceAtWork {
  readonly objects: OpenObjects;
  /** Migrations that are left to the `migrate` command, and have not been applied. */
  readonly pendingMigrations: readonly string[];
  /** Says where the service listens, for its own address where no setting has that. */
  listensAt(url: string): void;
  /** Has signals go to this plane from now on; without one, durable signals wait in the database. */
  signalsTo(plane: SignalPlane): void;
  close(): Promise<void>;
}

/**
 * Opens the database that the settings name and, where they say so, applies pending migrations. A database that is not there
 * yet is waited for.
 */
export async function connect(
  service: Pick<ServiceDefinition, "name" | "deadlineSeconds"> &
    FamilyParts &
    Partial<Pick<ServiceDefinition, "routes">>,
  { settings, folder, log, clock = systemClock, observer = silentObserver }: ConnectOptions,
): Promise<Connection> {
  const tokens = await issuerOf(service, settings, clock);
  const deadlineSeconds = service.deadlineSeconds ?? limits.defaultDeadlineSeconds;
  const deadlines = (service.routes ?? []).map((route) => route.deadlineSeconds ?? deadlineSeconds);
  keepPrivate(settings.dataFolder);
  const database = await openDatabase(settings.databaseUrl, {
    connections: settings.databasePoolSize,
    readers: settings.databaseReaders,
    longestSeconds: Math.max(deadlineSeconds, ...deadlines),
    log,
  });
  const pending = await migrated(database, { settings, folder, log });
  const signer = hmacSigner(settings.signingSecrets);
  const { read: publicUrl, listensAt } = publicUrlOf(settings);
  const objects = await openObjects(service.storages ?? [], settings, signer, clock, publicUrl);
  const { limiter, close: closeLimiter } = await openLimiter(settings, service.name, {
    clock,
    database,
    log,
  });
  const listeners: Listeners = { woken: new Map(), plane: silentPlane };
  const resources: Resources = {
    deadlineSeconds,
    clock,
    database,
    log,
    observer,
    signer,
    limiter,
    objects,
    publicUrl,
    familySettings: settings.families,
    staged: staging(service),
    ...secretsOf(settings, tokens),
    ...boundsOf(settings, limiter),
    ...calling(listeners),
  };
  const newContext = contextsOf(resources);
  return {
    ...resources,
    pendingMigrations: pending,
    objects,
    context: newContext,
    write(operationId, work, tenant) {
      const context = newContext(operationId, tenant);
      return context.commit(() => work(context));
    },
    listensAt,
    signalsTo(given) {
      listeners.plane = given;
    },
    whenWoken(key, woken) {
      listeners.woken.set(key, woken);
    },
    async close() {
      await database.close();
      await objects.close();
      await closeLimiter();
    },
  };
}

/** Whom operations tell of what they have staged; there may be nobody yet. */
interface Listeners {
  readonly woken: Map<StoreKey<unknown>, () => void>;
  plane: SignalPlane;
}

const silentPlane: SignalPlane = {
  wake: () => undefined,
  credentialsEnded: () => undefined,
  publish: () => undefined,
};

function calling(listeners: Listeners): Pick<Resources, "signals" | "wake"> {
  return {
    signals: {
      wake: () => listeners.plane.wake(),
      credentialsEnded: (of) => listeners.plane.credentialsEnded(of),
      publish: (tenant, to, signal) => listeners.plane.publish(tenant, to, signal),
    },
    wake: (key) => listeners.woken.get(key)?.(),
  };
}

/** What families do with an integration event, one after the other: they share a transaction. */
function staging(parts: FamilyParts): Resources["staged"] {
  const families = familiesOf(parts);
  return async (context, event) => {
    for (const { family, part } of families) await family.staged(part, context, event);
  };
}

function secretsOf(settings: Settings, tokens: TokenIssuer): Pick<Resources, "keys" | "sealer"> {
  return {
    keys: {
      tokens,
      refresh: hmacSigner(settings.refreshPeppers),
      reset: hmacSigner(settings.resetPeppers),
    },
    sealer: aesSealer(settings.signingSecrets, "outbox"),
  };
}

type Bounds = Pick<
  Resources,
  "readLimits" | "queryBudgets" | "answers" | "uploadSeconds" | "loginAttempts" | "resetAttempts"
>;

function boundsOf(settings: Settings, limiter: RateLimiter): Bounds {
  return {
    readLimits: settings.readLimits,
    queryBudgets: settings.queryBudgets,
    answers: new AnswerBudget(settings.connections.answerBytes),
    uploadSeconds: settings.uploadSeconds,
    loginAttempts: attempts(limiter, "login", settings.loginAttempts, "address"),
    resetAttempts: attempts(limiter, "reset", settings.resetAttempts, "anywhere"),
  };
}

/** Makes contexts for work of the service itself. */
function contextsOf(resources: Resources): Connection["context"] {
  return (operationId, tenant = defaultTenant, lifetime = Lifetime.unlimited()) => {
    const requestId = uuidv7();
    return new ExecutionContext(resources, {
      operationId,
      metadata: {
        requestId,
        correlationId: requestId,
        causationId: requestId,
        traceparent: undefined,
      },
      tenant,
      idempotencyKey: undefined,
      lifetime,
    });
  };
}

/** How long an engine is waited for at start, and between two tries, in milliseconds. */
const patience = { millis: 30_000, every: 1_000 };

/** Applies what is pending, or says what is. Waits for a database that does not answer yet, and says so. */
async function migrated(
  database: MigrationTarget,
  { settings, folder, log }: ConnectOptions,
): Promise<readonly string[]> {
  const until = performance.now() + patience.millis;
  for (let isTold = false; ; isTold = true) {
    try {
      if (!settings.migrateAtStart) return await pendingMigrations(database, folder);
      const applied = await applyMigrations(database, folder);
      if (applied.length > 0) log.info({ applied }, "migrations applied");
      return [];
    } catch (error) {
      const passes = error instanceof ServiceError && error.code === "core.unavailable";
      if (!passes || performance.now() > until) throw error;
      if (!isTold) log.warn({ err: error }, "waiting for the database, up to 30 s");
      await sleep(patience.every);
    }
  }
}

/** The issuer of access tokens: the external signer's keys, or those of the settings. */
async function issuerOf(
  { name, identity }: Pick<ServiceDefinition, "name" | "identity">,
  { accessTokenKeys }: Settings,
  clock: Clock,
): Promise<TokenIssuer> {
  const algorithm = identity?.algorithm ?? "HS256";
  const keys =
    identity?.signer === undefined
      ? await localTokenKeys(algorithm, accessTokenKeys)
      : externalTokenKeys(algorithm, identity.signer);
  return tokenIssuer(algorithm, keys, identity?.issuer ?? name, clock);
}
