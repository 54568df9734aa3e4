// A service's database with its migrations applied: what the server, scripts and tools begin with.
import { memoryLoginThrottle } from "../engines/memory/login-throttle.js";
import { applyMigrations } from "../engines/sql/migrations.js";
import { ExecutionContext, type Resources } from "../operations/context.js";
import { Lifetime } from "../operations/lifetime.js";
import type { Log } from "../operations/log.js";
import { hmacSigner } from "../operations/signer.js";
import { uuidv7 } from "../operations/uuid.js";
import { openDatabase } from "./engines.js";
import type { Settings } from "./settings.js";

/** Rows of requests that carry no identity belong to this tenant. */
export const defaultTenant = "default";

export interface ConnectOptions {
  readonly settings: Settings;
  /** The generated folder, for migrations and documents. */
  readonly folder: string;
  readonly log: Log;
}

/** An open database with what operations need besides it. */
export interface Connection extends Resources {
  /** A context for work of the service itself, without a caller. */
  context(operationId: string): ExecutionContext;
  /** Runs work as an operation of the service itself, in one write transaction. */
  write<T>(operationId: string, work: (context: ExecutionContext) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens the database that the settings name and, where they say so, applies pending migrations. */
export async function connect({ settings, folder, log }: ConnectOptions): Promise<Connection> {
  const database = await openDatabase(settings.databaseUrl, settings.databasePoolSize);
  if (settings.migrateAtStart) {
    const applied = await applyMigrations(database, folder);
    if (applied.length > 0) log.info({ applied }, "migrations applied");
  }
  const resources: Resources = {
    database,
    log,
    signer: hmacSigner(settings.signingSecrets),
    keys: {
      accessToken: settings.accessTokenSecrets,
      refresh: hmacSigner(settings.refreshPeppers),
    },
    loginThrottle: memoryLoginThrottle(settings.loginThrottle),
  };
  const newContext = (operationId: string): ExecutionContext => {
    const requestId = uuidv7();
    return new ExecutionContext(resources, {
      operationId,
      metadata: {
        requestId,
        correlationId: requestId,
        causationId: requestId,
        traceparent: undefined,
      },
      tenant: defaultTenant,
      idempotencyKey: undefined,
      lifetime: Lifetime.unlimited(),
    });
  };
  return {
    ...resources,
    context: newContext,
    write(operationId, work) {
      const context = newContext(operationId);
      return context.commit(() => work(context));
    },
    close: () => database.close(),
  };
}
