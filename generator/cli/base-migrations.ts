// The migrations that a commit has: what a database of a shared environment may have applied.
import type { MigrationHistory } from "../emit/migrations.js";
import { databasePath, emptyDatabase, migrationPath } from "../database/schema.js";
import { git } from "./git.js";
import { UsageError } from "./io.js";
import type { DatabaseSchema } from "../model/stored-tables.js";

/**
 * The migrations of the generated folder at a commit; none where it had no such folder. Throws `UsageError` where they
 * cannot be read.
 */
export function migrationsAt(commit: string, root: string, out: string): MigrationHistory {
  const textOf = (path: string): string | undefined =>
    git(root, "show", `${commit}:./${out}/${path}`)?.replaceAll("\r\n", "\n");
  const listed = git(root, "ls-tree", "-r", "-z", "--name-only", commit, "--", `${out}/migrations`);
  if (listed === undefined) throw new UsageError(`git cannot list ${out}/migrations of ${commit}`);
  const files = listed
    .split("\0")
    .map((path) => path.slice(out.length + 1))
    .filter((path) => migrationPath.test(path))
    .sort()
    .map((path) => ({ path, text: textOf(path) ?? "" }));
  if (files.length === 0) return { files, database: emptyDatabase };
  return { files, database: databaseIn(textOf(databasePath), commit) };
}

function databaseIn(text: string | undefined, commit: string): DatabaseSchema {
  try {
    // What the base branch has was printed from a DatabaseSchema; `check` holds it there.
    if (text !== undefined) return JSON.parse(text) as DatabaseSchema;
  } catch {
    // Said below, as where there is none.
  }
  throw new UsageError(`${databasePath} of ${commit} cannot be read`);
}
