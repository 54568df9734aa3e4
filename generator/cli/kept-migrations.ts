// Which migrations of a base branch stay: all that have come to this branch, by whichever way they
// came.
import { isDeepStrictEqual } from "node:util";
import { noMigrations, type MigrationHistory } from "../emit/migrations.js";
import { databasePath } from "../database/schema.js";
import { brokenSuccession } from "../database/succession.js";
import type { Project } from "../pipeline/generate.js";
import { migrationPath } from "../database/schema.js";
import type { DatabaseSchema } from "../model/stored-tables.js";
import { databaseIn, migrationsAt, textAt } from "./base-migrations.js";
import { commitOf, git } from "./git.js";
import { baseOf, operationIn } from "./git-operation.js";

/**
 * How far back is looked for a commit whose migrations are here, though git doesn't know that it
 * was merged.
 */
const furthest = 200;

/**
 * The migrations of the last commit of a base branch that has come to this one. Usually that is the
 * merge base, and what is being merged counts. `merge --squash` and cherry-picks leave no trace in
 * the history: there, a commit counts whose migrations are all here. Throws `UsageError` if the
 * revision doesn't exist or its migrations can't be read.
 */
export function migrationsKept(ref: string, { root, paths: { out } }: Project): MigrationHistory {
  const merged = baseOf(ref, root);
  const folder = `${out}/migrations`;
  const range = `${merged}..${commitOf(ref, root)}`;
  const limit = `--max-count=${furthest}`;
  const later = (git(root, "rev-list", limit, range, "--", folder) ?? "")
    .split("\n")
    .filter((commit) => commit !== "");
  const here = whatIsHere(root, out);
  const { picked } = operationIn(root);
  const isHere = (commit: string): boolean => here.has(commit);
  const wasPicked = (commit: string): boolean =>
    picked.includes(commit) && (isAncestor(root, `${commit}^`) || isHere(`${commit}^`));
  const newest = later.findIndex((commit) => isHere(commit) || wasPicked(commit));
  if (newest < 0) return migrationsAt(merged, root, out);
  return firstAlike(
    [...later.slice(newest), merged].map((commit) => () => migrationsAt(commit, root, out)),
  );
}

/**
 * Of commits that go back from the newest, the first with the same migrations: what has changed
 * since, without a migration, may not have come here.
 */
function firstAlike(histories: readonly (() => MigrationHistory)[]): MigrationHistory {
  const [newest, ...older] = histories;
  let first = newest?.() ?? noMigrations;
  for (const read of older) {
    const history = read();
    const isAlike =
      isDeepStrictEqual(history.files, first.files) &&
      brokenSuccession(first.database, history.database).length === 0;
    if (!isAlike) break;
    first = history;
  }
  return first;
}

/**
 * The migrations of HEAD and of the index: in the middle of a merge the index has those of all
 * sides.
 */
function whatIsHere(root: string, out: string): { has(commit: string): boolean } {
  const folder = `${out}/migrations`;
  const listed = [
    git(root, "ls-tree", "-r", "-z", "HEAD", "--", `${folder}/`),
    git(root, "ls-files", "-s", "-z", "--", `${folder}/`),
  ].flatMap((text) => entriesIn(text ?? ""));
  const blobs = new Set(listed.map(({ path, blob }) => `${path} ${blob}`));
  const databases = [`HEAD`, ":0", ":2", ":3"].flatMap((at): readonly DatabaseSchema[] => {
    const database = databaseIn(textAt(at, root, `${out}/${databasePath}`));
    return database === null ? [] : [database];
  });
  return {
    has(commit) {
      const listing = git(root, "ls-tree", "-r", "-z", commit, "--", `${folder}/`);
      const scripts = entriesIn(listing ?? "").filter(({ path }) =>
        migrationPath.test(path.slice(out.length + 1)),
      );
      if (!scripts.every(({ path, blob }) => blobs.has(`${path} ${blob}`))) return false;
      const database = databaseIn(textAt(commit, root, `${out}/${databasePath}`));
      return (
        database !== null && databases.some((one) => brokenSuccession(database, one).length === 0)
      );
    },
  };
}

/**
 * The files in a listing of `ls-tree` or `ls-files`, whose lines have the blob among other words
 * before the tab.
 */
function entriesIn(listing: string): readonly { readonly path: string; readonly blob: string }[] {
  return [...listing.matchAll(/([0-9a-f]{40,64})(?: \d)?\t([^\0]+)/g)].map(
    ([, blob = "", path = ""]) => ({ path, blob }),
  );
}

function isAncestor(root: string, commit: string): boolean {
  return git(root, "merge-base", "--is-ancestor", commit, "HEAD") !== undefined;
}
