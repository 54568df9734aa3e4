// The migrations that a commit has: what a database of a shared environment may have applied.
import type { MigrationHistory } from "../emit/migrations.js";
import { databasePath, emptyDatabase, migrationPath } from "../database/schema.js";
import type { FolderTexts } from "../output/migration-history.js";
import { git, textsOf } from "./git.js";
import { UsageError } from "./io.js";
import type { DatabaseSchema } from "../model/stored-tables.js";

/** The generated folder of a commit. Throws `UsageError` if it cannot be read. */
export function folderAt(commit: string, root: string, out: string): FolderTexts {
  const listed = git(root, "ls-tree", "-r", "-z", "--name-only", commit, "--", `${out}/`);
  if (listed === undefined) throw new UsageError(`git cannot list ${out} of ${commit}`);
  const paths = listed
    .split("\0")
    .filter((path) => path.startsWith(`${out}/`))
    .map((path) => path.slice(out.length + 1));
  return { paths, read: (path) => textAt(commit, root, `${out}/${path}`) };
}

/** A file of a commit, or of the index (`:0`), with LF line ends; undefined if there is none. */
export function textAt(commit: string, root: string, path: string): string | undefined {
  return git(root, "show", `${commit}:./${path}`)?.replaceAll("\r\n", "\n");
}

/**
 * The migrations of the generated folder at a commit; none if it had no such folder. Throws
 * `UsageError` if they cannot be read.
 */
export function migrationsAt(commit: string, root: string, out: string): MigrationHistory {
  const paths = folderAt(commit, root, out)
    .paths.filter((path) => migrationPath.test(path))
    .sort();
  if (paths.length === 0) return { files: [], database: emptyDatabase };
  const names = [databasePath, ...paths].map((path) => `${commit}:./${out}/${path}`);
  const [printed, ...texts] = textsOf(root, names).map((text) => text?.replaceAll("\r\n", "\n"));
  const files = paths.map((path, index) => ({ path, text: texts[index] ?? "" }));
  const database = databaseIn(printed);
  if (database === null) throw new UsageError(`${databasePath} of ${commit} cannot be read`);
  return { files, database };
}

/** A database that was printed; null if the text isn't whole. */
export function databaseIn(text: string | undefined): DatabaseSchema | null {
  try {
    // `check` holds it there that it was printed from a DatabaseSchema.
    return text === undefined ? null : (JSON.parse(text) as DatabaseSchema);
  } catch {
    return null;
  }
}
