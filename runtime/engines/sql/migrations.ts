// The migrations runner: numbered, append-only files, applied in order under a lock, each checked
// by its checksum.
import { fail } from "../../contract/errors.js";
import { checkRows } from "./migration-checks.js";
import { partName, readMigrations, type MigrationFile } from "./migration-files.js";
import {
  appliedMigrations,
  divergence,
  divergenceAdvice,
  type MigrationRecords,
} from "./migration-records.js";
import type { SqlSession } from "./session.js";

/** A transaction of a migration. */
export interface MigrationTransaction {
  /** Runs a script of several statements. */
  exec(text: string): Promise<void>;
  readonly session: SqlSession;
}

/** The connection on which a migration runs. */
export interface MigrationConnection {
  /**
   * Runs `work` in a transaction. If it doesn't get a lock quickly, so that others would queue up
   * behind it, the transaction is rolled back and begun again: `work` may run several times.
   */
  transaction<T>(work: (transaction: MigrationTransaction) => Promise<T>): Promise<T>;
  /**
   * Runs one statement outside any transaction (on SQLite, in one of its own), for as long as it
   * takes.
   */
  online(statement: string): Promise<void>;
}

/** How a caller follows a migration, and may stop it. */
export interface MigrationWatch {
  /** Called once, if another process migrates and this one waits for it. */
  onWaiting?(): void;
  /** Called before a statement that runs outside any transaction. */
  onStatement?(statement: string): void;
  /**
   * Called with the progress of that statement, if the engine reports it. The unit differs between
   * its phases.
   */
  onProgress?(done: number, total: number): void;
  /** Stops the migration: the current part is undone, and the next run continues with it. */
  readonly signal?: AbortSignal;
}

/** An engine whose schema can be migrated. */
export interface MigrationTarget {
  readonly engine: "sqlite" | "postgres";
  /**
   * Runs `work` under the migration lock, which one process holds at a time. On SQLite, each
   * transaction takes its own lock.
   */
  migrate<T>(
    work: (connection: MigrationConnection) => Promise<T>,
    watch?: MigrationWatch,
  ): Promise<T>;
  /**
   * Runs `work`, which only reads, without the migration lock. On SQLite, it waits for a
   * transaction of another process.
   */
  inspect<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
}

/**
 * Applies those of the engine's migrations in the generated folder (`0001_initial.sql` …) that the
 * database doesn't have yet, and returns their names. Each part of a file is applied completely or
 * not at all, and recorded, so that a later run continues after an interruption. Throws
 * `core.configuration` if an applied file has changed or vanished since, or if a file's checks find
 * rows.
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
      return appliedMigrations(session);
    });
    refuseDivergence(files, noted);
    const applied: string[] = [];
    for (const file of files.filter(({ name }) => !noted.has(name)))
      if (await applyFile(connection, file, noted, watch)) applied.push(file.name);
    return applied;
  }, watch);
}

function refuseDivergence(files: readonly MigrationFile[], noted: MigrationRecords): void {
  const [first, ...others] = divergence(files, noted);
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const reason = `migration ${first}${more}: ${divergenceAdvice}`;
  throw fail("core.configuration", {}, { cause: new Error(reason) });
}

/**
 * Applies the parts of a file in order, except those already recorded. Returns whether it applied
 * the last one.
 */
async function applyFile(
  connection: MigrationConnection,
  file: MigrationFile,
  noted: MigrationRecords,
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
      // Another process may have been first: SQLite holds no lock between two parts.
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

/**
 * The names of the migrations that `applyMigrations` would apply, in order. Throws
 * `core.configuration` if it would refuse because applied files have changed or vanished.
 */
export async function pendingMigrations(
  target: MigrationTarget,
  folder: string,
): Promise<readonly string[]> {
  const files = await readMigrations(target.engine, folder);
  const applied = await target.inspect(appliedMigrations);
  refuseDivergence(files, applied);
  return files.map(({ name }) => name).filter((name) => !applied.has(name));
}
