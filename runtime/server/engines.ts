// Which engines a DATABASE_URL and an OBJECTS_URL name. An engine is imported only when it is
// configured.
import type { MigrationTarget } from "../engines/sql/migrations.js";
import { limits } from "../contract/limits.js";
import { silentLog, type Log } from "../ports/log.js";
import type { Database } from "../ports/database.js";
import type { EngineDoors } from "../operations/family.js";
import type { Symptom } from "../ports/symptom.js";
import { sqlStores } from "../families.js";

export interface DatabaseOptions {
  /** Connections to PostgreSQL. */
  readonly connections: number;
  /** Connections of SQLite that read outside the event loop. */
  readonly readers: number;
  /** Whether a continuous backup moves SQLite's log into the database. */
  readonly isArchived: boolean;
  /**
   * The longest deadline of an operation. PostgreSQL ends statements that take more than 5 s
   * longer.
   */
  readonly longestSeconds: number;
  /** Tables of documents, for which readiness asks for the rights that PostgreSQL's role has. */
  readonly tables: readonly string[];
  /** Whether a pooler in transaction mode is in front of PostgreSQL. */
  readonly isPooled: boolean;
  /**
   * The URL of PostgreSQL for what needs a session of its own; null if a pooler is the only way.
   * The database's own if left out.
   */
  readonly directUrl: string | null;
  /** The URL of a replica of PostgreSQL; null if there is none. */
  readonly replicaUrl: string | null;
  readonly log: Log;
}

/** The options of a database that is opened without any. */
export const usualDatabase = {
  connections: 10,
  readers: 4,
  isArchived: false,
  longestSeconds: limits.defaultDeadlineSeconds,
  tables: [],
  isPooled: false,
  replicaUrl: null,
  log: silentLog,
} as const;

/** Opens the database of a URL: `sqlite:<path>` or `postgres://…`. */
export async function openDatabase(
  url: string,
  given: Partial<DatabaseOptions> = {},
): Promise<Database & MigrationTarget> {
  const options: DatabaseOptions = { ...usualDatabase, directUrl: url, ...given };
  if (url.startsWith("sqlite:")) {
    const { openSqliteDatabase } = await import("../engines/sqlite/engine.js");
    return openSqliteDatabase(url.slice("sqlite:".length), sqlStores, options);
  }
  const { openPostgresDatabase } = await import("../engines/postgres/engine.js");
  return openPostgresDatabase(url, sqlStores, options);
}

/**
 * Examines the file of a SQLite database, before anybody opens it; nothing of PostgreSQL. Throws
 * what can't be worked with.
 */
export async function examineFile(url: string): Promise<readonly Symptom[]> {
  if (!url.startsWith("sqlite:")) return [];
  const { examineSqlite } = await import("../engines/sqlite/examine.js");
  return examineSqlite(url.slice("sqlite:".length));
}

/**
 * Examines PostgreSQL. Rejects if it can't be reached. `connections` is how many a process opens.
 */
export async function examineServer(
  database: MigrationTarget,
  connections: number,
): Promise<readonly Symptom[]> {
  if (database.engine === "sqlite") return [];
  const { examinePostgres } = await import("../engines/postgres/examine.js");
  return database.inspect((session) => examinePostgres(session, connections));
}

/** Examines the replica of a PostgreSQL. */
export async function examineReplicaAt(database: MigrationTarget, url: string): Promise<Symptom> {
  const { askStanding, examineReplica } = await import("../engines/postgres/examine.js");
  const replica = await openDatabase(url);
  try {
    const writer = await database.inspect(askStanding);
    return await replica.inspect((session) => examineReplica(session, writer));
  } finally {
    await replica.close();
  }
}

/** Opens the engine of objects of a location. */
export const openObjects: EngineDoors["objects"] = async ({ url, credentials }, addresses) => {
  if (!url.startsWith("s3:")) {
    const { openFolderStore } = await import("../engines/folder/engine.js");
    const store = await openFolderStore(url.slice("file:".length), addresses);
    return { store, answersAddresses: false };
  }
  const { openS3Store } = await import("../engines/s3/engine.js");
  const { hostname, searchParams } = new URL(url);
  const store = await openS3Store({
    bucket: hostname,
    endpoint: searchParams.get("endpoint") ?? undefined,
    region: searchParams.get("region") ?? "us-east-1",
    credentials,
    acceptsUnsignedHeaders: searchParams.get("unsigned-headers") === "accept",
  });
  return { store, answersAddresses: true };
};
