// The migrations that a generated folder, or a commit's copy of it, has: whole, or what is wrong
// with each of them.
import { databasePath, emptyDatabase, migrationPath } from "../database/schema.js";
import type { MigrationHistory } from "../emit/migrations.js";
import type { DatabaseSchema } from "../model/stored-tables.js";
import type { EmittedFile } from "../print/file.js";
import { hashOf, manifestName, readOwnership, type Ownership } from "./manifest.js";

/** A generated folder, wherever it is kept. */
export interface FolderTexts {
  /** Paths of its files, relative to it. */
  readonly paths: readonly string[];
  /** The text of a file with LF line ends, or undefined if there is none. */
  readonly read: (path: string) => string | undefined;
}

/** What a migration, or storage.json, can lack. */
export type Loss =
  | "is missing"
  | "was edited"
  | "is not in the manifest"
  | "has a number that is taken";

/** Called with the path of a migration, and what is wrong with it. */
export type ReportLoss = (path: string, what: Loss) => void;

/**
 * Migrations of earlier runs. Reports migrations that are missing, edited, not in the manifest or
 * share a number, and a storage.json that is missing or edited: databases may have applied them, so
 * nothing is guessed.
 */
export function historyIn(folder: FolderTexts, lost: ReportLoss): MigrationHistory {
  const { paths, read } = folder;
  const ownership = readOwnership(read(manifestName));
  const owned = [...ownership].filter(([path]) => migrationPath.test(path));
  const files = owned.flatMap(([path, hashes]): readonly EmittedFile[] => {
    const text = read(path);
    if (text !== undefined && hashes.has(hashOf(text))) return [{ path, text }];
    lost(path, text === undefined ? "is missing" : "was edited");
    return [];
  });
  for (const path of paths.filter((one) => migrationPath.test(one)))
    if (!ownership.has(path)) lost(path, "is not in the manifest");
  const numbers = owned.map(([path]) => numberOf(path));
  for (const [index, number] of numbers.entries()) {
    if (numbers.indexOf(number) !== index)
      lost(owned[index]?.[0] ?? number, "has a number that is taken");
  }
  return {
    files: files.sort((left, right) => (left.path < right.path ? -1 : 1)),
    database: owned.length === 0 ? emptyDatabase : databaseIn(folder, ownership, lost),
  };
}

/** The engine and the number of a migration, such as `migrations/sqlite/0002`. */
function numberOf(path: string): string {
  return path.replace(/_\w+\.sql$/, "");
}

function databaseIn({ read }: FolderTexts, ownership: Ownership, lost: ReportLoss): DatabaseSchema {
  const path = databasePath;
  const text = read(path);
  if (text !== undefined && ownership.get(path)?.has(hashOf(text)) === true) {
    // The hash proves that we printed this text from a DatabaseSchema.
    return JSON.parse(text) as DatabaseSchema;
  }
  lost(path, text === undefined ? "is missing" : "was edited");
  return emptyDatabase;
}
