// The migrations runner: numbered, append-only files, applied in order under a lock, each checked by its checksum.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fail, ServiceError } from "../../contract/errors.js";
import type { SqlSession } from "./session.js";

/** A connection that holds the migration lock inside one transaction. */
export interface MigrationConnection {
  /** Runs a script of several statements. */
  exec(text: string): Promise<void>;
  readonly session: SqlSession;
}

/** An engine whose schema can be migrated. */
export interface MigrationTarget {
  readonly engine: "sqlite" | "postgres";
  /** Runs `apply` alone among all processes, in one transaction. */
  migrate(
    apply: (connection: MigrationConnection) => Promise<readonly string[]>,
  ): Promise<readonly string[]>;
}

/**
 * Applies the engine's migrations in the generated folder (`0001_initial.sql` …) that the database has not seen and
 * returns their names.
 * All or nothing. Throws `core.configuration` where an applied file has changed since.
 */
export async function applyMigrations(
  target: MigrationTarget,
  folder: string,
): Promise<readonly string[]> {
  const files = await readMigrations(join(folder, "migrations", target.engine));
  return target.migrate(async ({ exec, session }) => {
    await exec(
      `CREATE TABLE IF NOT EXISTS "opwright_migrations" ("name" text PRIMARY KEY, "checksum" text NOT NULL, "applied_at" text NOT NULL)`,
    );
    const rows = await session.all(`SELECT "name", "checksum" FROM "opwright_migrations"`, []);
    const applied = new Map(rows.map((row) => [String(row["name"]), String(row["checksum"])]));
    const pending = files.filter((file) => !applied.has(file.name));
    for (const file of files) {
      const checksum = applied.get(file.name);
      if (checksum !== undefined && checksum !== file.checksum) {
        throw misconfigured(
          `migration ${file.name} has changed after it was applied to this database`,
        );
      }
    }
    for (const file of pending) {
      await exec(file.text);
      const at = (position: number) => session.dialect.placeholder(position);
      await session.run(
        `INSERT INTO "opwright_migrations" ("name", "checksum", "applied_at") VALUES (${at(1)}, ${at(2)}, ${at(3)})`,
        [file.name, file.checksum, new Date().toISOString()],
      );
    }
    return pending.map((file) => file.name);
  });
}

/** The migrations that `applyMigrations` would apply. */
export async function pendingMigrations(
  target: MigrationTarget,
  folder: string,
): Promise<readonly string[]> {
  const files = await readMigrations(join(folder, "migrations", target.engine));
  return target.migrate(async ({ session }) => {
    const rows = await session
      .all(`SELECT "name" FROM "opwright_migrations"`, [])
      .catch((error: unknown) => {
        // A database that none has been applied to has no such table.
        if (error instanceof ServiceError && error.code === "core.infrastructure") return [];
        throw error;
      });
    const applied = new Set(rows.map((row) => String(row["name"])));
    return files.map(({ name }) => name).filter((name) => !applied.has(name));
  });
}

interface MigrationFile {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

async function readMigrations(folder: string): Promise<readonly MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), "utf8");
      return { name, text, checksum: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

function misconfigured(reason: string): Error {
  return fail("core.configuration", {}, { cause: new Error(reason) });
}
