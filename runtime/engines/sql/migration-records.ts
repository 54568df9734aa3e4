// What a database has applied, against the migrations of this version: none of them may have
// changed or vanished.
import { ServiceError } from "../../contract/errors.js";
import { fileOfRecord, partName, type MigrationFile } from "./migration-files.js";
import type { SqlSession } from "./session.js";

/**
 * What was applied: names of files, and of the parts of an unfinished file, each with the checksum
 * of its file at that time.
 */
export type MigrationRecords = ReadonlyMap<string, string>;

/** The migrations that a database has applied. */
export async function appliedMigrations(session: SqlSession): Promise<MigrationRecords> {
  const rows = await session
    .all(`SELECT "name", "checksum" FROM "opwright_migrations"`, [])
    .catch((error: unknown) => {
      // The table doesn't exist before the first migration.
      if (error instanceof ServiceError && error.code === "core.infrastructure") return [];
      throw error;
    });
  return new Map(rows.map((row) => [String(row["name"]), String(row["checksum"])]));
}

/**
 * Why the migrations of this version can't follow what a database has applied; empty if they can. A
 * database that is only ahead, because a later version has migrated it, is fine: so a rollback
 * needs nothing.
 */
export function divergence(
  files: readonly MigrationFile[],
  records: MigrationRecords,
): readonly string[] {
  const changed = files
    .filter(({ name, parts, checksum }) =>
      [name, ...parts.map((_part, at) => partName(name, at))].some(
        (one) => (records.get(one) ?? checksum) !== checksum,
      ),
    )
    .map(({ name }) => `${name} has changed after it was applied to this database`);
  const own = new Set(files.map(({ name }) => name));
  const isPending = files.some(({ name }) => !records.has(name));
  const last = numberOf(files.at(-1)?.name ?? "");
  const vanished = [...new Set([...records.keys()].map(fileOfRecord))]
    .filter((name) => !own.has(name) && (isPending || numberOf(name) <= last))
    .sort()
    .map((name) => `${name} was applied to this database, and this version doesn't have it`);
  return [...changed, ...vanished];
}

/** What an operator does about it. */
export const divergenceAdvice =
  "merge the branch that the database was migrated by, run `opwright migrations squash`, and deploy that; or make the database anew";

function numberOf(name: string): number {
  return Number(name.slice(0, 4));
}
