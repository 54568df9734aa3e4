// Migrations that generating changes or removes: databases that applied them can't go on, and what
// they dropped may be back.
import { migrationPath } from "../database/schema.js";
import { isRemoval, type FileChange } from "../output/plan.js";

/** Existing migrations that would change or disappear, relative to the generated folder. */
export function replacedMigrations(changes: readonly FileChange[]): readonly string[] {
  return changes
    .filter(({ path }) => migrationPath.test(path))
    .filter((change) => isRemoval(change) || change.kind !== "missing")
    .map(({ path }) => path);
}

/** Tables that replaced migrations dropped, and the new ones don't. */
export function undonePurges(changes: readonly FileChange[]): readonly string[] {
  const scripts = changes.filter(({ path }) => migrationPath.test(path));
  const now = scripts.flatMap((change) =>
    isRemoval(change) || change.kind === "stale" ? [] : droppedIn(change.text ?? ""),
  );
  const before = scripts.flatMap((change) =>
    change.kind === "missing" ? [] : droppedIn(change.before),
  );
  return [...new Set(before)].filter((table) => !now.includes(table)).sort();
}

function droppedIn(script: string): readonly string[] {
  return [...script.matchAll(/^DROP TABLE IF EXISTS "(\w+)";$/gm)].map(([, table = ""]) => table);
}
