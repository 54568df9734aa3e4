// Migrations of a base branch that this one has changed or lost: databases of the base have applied
// them (ci.md "Migrations").
import { databasePath } from "../database/schema.js";
import { brokenSuccession } from "../database/succession.js";
import type { Finding } from "../diagnostics/diagnostics.js";
import type { MigrationHistory } from "../emit/migrations.js";
import type { CheckedRegistry, Project } from "../pipeline/generate.js";
import { migrationsAt } from "./base-migrations.js";
import { commitOf } from "./git.js";
import { baseOf } from "./git-operation.js";

/**
 * The same for a registry that was checked; nothing if its own migrations aren't whole, which is
 * a finding already.
 */
export function lostSince(
  ref: string,
  project: Project,
  { findings, history }: Pick<CheckedRegistry, "findings" | "history">,
): readonly Finding[] {
  if (findings.some(({ code }) => code === "OPW085")) return [];
  return lostMigrations(ref, project, history);
}

/**
 * What keeps databases of a base branch from going on with the migrations that are here. The base
 * as it is now counts, not the merge base: a branch that only lags behind is fine, but one that
 * adds migrations of its own has to have the base's. Throws `UsageError` if the base can't be read.
 */
function lostMigrations(
  ref: string,
  { root, paths: { out } }: Project,
  here: MigrationHistory,
): readonly Finding[] {
  const [tip, parting] = [commitOf(ref, root), baseOf(ref, root)];
  const base = migrationsAt(tip, root, out);
  const begun = parting === tip ? base : migrationsAt(parting, root, out);
  const texts = new Map(here.files.map(({ path, text }) => [path, text]));
  const known = new Set(base.files.map(({ path }) => path));
  const old = new Map(begun.files.map(({ path, text }) => [path, text]));
  const added = here.files.filter(({ path }) => !known.has(path));
  const lost = (path: string, message: string): Finding => ({
    code: "OPW091",
    message,
    at: { file: `${out}/${path}`, path: [] },
  });
  const scripts = base.files.flatMap(({ path, text }) => {
    const own = texts.get(path);
    if (own === text) return [];
    if (own !== undefined) return [lost(path, `${path} is not as it is in ${ref}`)];
    if (old.has(path)) return [lost(path, `${path} is in ${ref}, and no longer here`)];
    const [first] = added;
    if (first === undefined) return [];
    return [lost(path, `${path} is in ${ref} and not here, where ${first.path} is added`)];
  });
  const parts = brokenParts(base, begun, here).map((what) =>
    lost(databasePath, `what is stored does not follow ${ref}: ${what}`),
  );
  return [...scripts, ...parts];
}

/** What doesn't continue the base, such as `the table notes`. */
function brokenParts(
  base: MigrationHistory,
  begun: MigrationHistory,
  here: MigrationHistory,
): readonly string[] {
  const isOld = new Set(brokenSuccession(here.database, begun.database));
  const isMoved = new Set(brokenSuccession(base.database, begun.database));
  const broken = brokenSuccession(base.database, here.database);
  // Where the base has moved on and nothing was changed here, the branch only lags behind.
  return broken.filter((what) => !isMoved.has(what) || isOld.has(what));
}
