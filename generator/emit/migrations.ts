// migrations/<engine>/NNNN_….sql: append-only files that follow the registry, and the database they
// add up to.
import { ddl, isOnline, rowChecks } from "./ddl.js";
import type { EngineName } from "../print/ddl-parts.js";
import { header, jsonFile, type EmittedFile } from "../print/file.js";
import {
  emptyDatabase,
  databaseChanges,
  databasePath,
  type DatabaseChange,
} from "../database/schema.js";
import type { DatabaseSchema } from "../model/stored-tables.js";

/**
 * What an earlier run left: the database after its last migration, and the names and texts of its
 * files.
 */
export interface MigrationHistory {
  readonly database: DatabaseSchema;
  /** Paths below the generated folder. */
  readonly files: readonly EmittedFile[];
}

export const noMigrations: MigrationHistory = { database: emptyDatabase, files: [] };

const engines: readonly EngineName[] = ["sqlite", "postgres"];

/** The earlier migrations as they are, and one more for each engine where the database changed. */
export function emitMigrations(
  needed: DatabaseSchema,
  history: MigrationHistory,
): readonly EmittedFile[] {
  const changes = databaseChanges(history.database, needed);
  const state = jsonFile(databasePath, needed);
  if (changes.length === 0) return [...history.files, state];
  const numbers = history.files.map(({ path }) => Number(/\/(\d{4})_/.exec(path)?.[1] ?? 0));
  const number = 1 + Math.max(0, ...numbers);
  const name = `${String(number).padStart(4, "0")}_${number === 1 ? "initial" : subject(changes)}`;
  const added = engines.map((engine) => ({
    path: `migrations/${engine}/${name}.sql`,
    text: `${header("registry", "--")}\n${migrationText(engine, changes)}`,
  }));
  return [...history.files, ...added, state];
}

/**
 * The checks of rows, what runs in one transaction, and then each part that runs outside of one
 * (`-- online`).
 */
function migrationText(engine: EngineName, changes: readonly DatabaseChange[]): string {
  const [online, together] = [true, false].map((wanted) =>
    changes.filter((change) => isOnline(change) === wanted),
  );
  const checks = changes.flatMap((change) => rowChecks(engine, change));
  const script = (together ?? [])
    .map((change) => ddl(engine, change))
    .filter((text) => text !== "")
    .map((text) => `\n${text}\n`);
  const parts = (online ?? []).map((change) => `\n-- online\n${ddl(engine, change)}\n`);
  return [...checks.map((line) => `${line}\n`), ...script, ...parts].join("");
}

/** A name for a migration: the tables that it touches. */
function subject(changes: readonly DatabaseChange[]): string {
  const tables = changes.map(({ table }) => table);
  const [first = "storage", ...others] = [...new Set(tables)].sort();
  return others.length === 0 ? first : `${first}_and_${others.length}_more`;
}
