// The migrations runner: numbered, append-only files, applied in order under a lock, each checked by its checksum.
import { fail, ServiceError } from "../../contract/errors.js";
import { checkRows } from "./migration-checks.js";
import { partName, readMigrations, type MigrationFile } from "./migration-files.js";
import type { SqlSession } from "./session.js";

/** A transaction of a migration. */
export interface MigrationTransaction {
  /** Runs a script of several statements. */
  exec(text: string): Promise<void>;
  readonly session: SqlSession;
}

/** A connection that holds the migration lock. */
export interface MigrationConnection {
  /**
   * Does work in a transaction. Where it would keep others waiting for a lock that it does not get, it is undone and begun
   * again, so it may run several times.
   */
  transaction<T>(work: (transaction: MigrationTransaction) => Promise<T>): Promise<T>;
  /** Runs one statement outside of transactions, for as long as it takes. */
  online(statement: string): Promise<void>;
}

/** Who watches a migration, and may stop it. */
export interface MigrationWatch {
  /** A statement outside of transactions begins. */
  onStatement?(statement: string): void;
  /** How far it is, where the engine says so. */
  onProgress?(done: number, total: number): void;
  /** Ends what is under way: the part is undone, and gone on with the next time. */
  readonly signal?: AbortSignal;
}

/** An engine whose schema can be migrated. */
export interface MigrationTarget {
  readonly engine: "sqlite" | "postgres";
  /** Runs `work` alone among all processes that migrate. */
  migrate<T>(
    work: (connection: MigrationConnection) => Promise<T>,
    watch?: MigrationWatch,
  ): Promise<T>;
  /** Looks at what is there; waits for nobody who migrates. */
  inspect<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
}

/**
 * Applies the engine's migrations in the generated folder (`0001_initial.sql` …) that the database has not seen and
 * returns their names. Each part of a file is applied whole or not at all, and noted: what ended early is gone on with. Throws
 * `core.configuration` where an applied file has changed since.
 */
export async function applyMigrations(
  target: MigrationTarget,
  folder: string,
  watch: MigrationWatch = {},
): Promise<readonly string[]> {
  const files = await readMigrations(target.engine, folder);
  return target.migrate(async (connection) => {
    const noted = await connection.transaction(async ({ exec, session }) => {
      await exec(
        `CREATE TABLE IF NOT EXISTS "opwright_migrations" ("name" text PRIMARY KEY, "checksum" text NOT NULL, "applied_at" text NOT NULL)`,
      );
      const rows = await session.all(`SELECT "name", "checksum" FROM "opwright_migrations"`, []);
      return new Map(rows.map((row) => [String(row["name"]), String(row["checksum"])]));
    });
    for (const file of files) checkUnchanged(file, noted);
    const applied: string[] = [];
    for (const file of files.filter(({ name }) => !noted.has(name)))
      if (await applyFile(connection, file, noted, watch)) applied.push(file.name);
    return applied;
  }, watch);
}

function checkUnchanged({ name, parts, checksum }: MigrationFile, noted: Noted): void {
  const names = [name, ...parts.map((_part, at) => partName(name, at))];
  const others = names.map((one) => noted.get(one)).filter((one) => one !== undefined);
  if (others.some((other) => other !== checksum))
    throw misconfigured(`migration ${name} has changed after it was applied to this database`);
}

/** What a database has seen, with the checksums of then: names of files, and of parts of one that is under way. */
type Noted = ReadonlyMap<string, string>;

/** The parts of a file one after another, but for those that are noted. Says whether it did the last one. */
async function applyFile(
  connection: MigrationConnection,
  file: MigrationFile,
  noted: Noted,
  watch: MigrationWatch,
): Promise<boolean> {
  const { name, parts, checksum } = file;
  if (file.checks.length > 0)
    await connection.transaction(({ session }) => checkRows(session, file));
  let isDone = false;
  for (const [at, part] of parts.entries()) {
    if (noted.has(partName(name, at))) continue;
    watch.signal?.throwIfAborted();
    if (part.isOnline)
      for (const statement of part.statements) {
        watch.onStatement?.(statement);
        await connection.online(statement);
      }
    const isLast = at === parts.length - 1;
    isDone = await connection.transaction(async ({ exec, session }) => {
      // Another process may have been first, where an engine lets go of its lock between two parts.
      if (await isNoted(session, [name, partName(name, at)])) return false;
      if (!part.isOnline) await exec(part.text);
      if (isLast)
        await forget(
          session,
          parts.map((_part, one) => partName(name, one)),
        );
      await note(session, isLast ? name : partName(name, at), checksum);
      return isLast;
    });
  }
  return isDone;
}

async function isNoted(session: SqlSession, names: readonly string[]): Promise<boolean> {
  const places = names.map((_name, at) => session.dialect.placeholder(at + 1));
  const rows = await session.all(
    `SELECT "name" FROM "opwright_migrations" WHERE "name" IN (${places.join(", ")})`,
    names,
  );
  return rows.length > 0;
}

async function forget(session: SqlSession, names: readonly string[]): Promise<void> {
  const places = names.map((_name, at) => session.dialect.placeholder(at + 1));
  await session.run(
    `DELETE FROM "opwright_migrations" WHERE "name" IN (${places.join(", ")})`,
    names,
  );
}

async function note(session: SqlSession, name: string, checksum: string): Promise<void> {
  const places = [1, 2, 3].map((position) => session.dialect.placeholder(position));
  await session.run(
    `INSERT INTO "opwright_migrations" ("name", "checksum", "applied_at") VALUES (${places.join(", ")})`,
    [name, checksum, new Date().toISOString()],
  );
}

/** The migrations that `applyMigrations` would apply. */
export async function pendingMigrations(
  target: MigrationTarget,
  folder: string,
): Promise<readonly string[]> {
  const files = await readMigrations(target.engine, folder);
  const applied = await target.inspect(appliedNames);
  return files.map(({ name }) => name).filter((name) => !applied.has(name));
}

/** What is noted: names of files, and of parts of one that is under way. */
export async function appliedNames(session: SqlSession): Promise<ReadonlySet<string>> {
  const rows = await session
    .all(`SELECT "name" FROM "opwright_migrations"`, [])
    .catch((error: unknown) => {
      // A database that none has been applied to has no such table.
      if (error instanceof ServiceError && error.code === "core.infrastructure") return [];
      throw error;
    });
  return new Set(rows.map((row) => String(row["name"])));
}

function misconfigured(reason: string): Error {
  return fail("core.configuration", {}, { cause: new Error(reason) });
}
