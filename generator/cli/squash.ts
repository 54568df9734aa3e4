// opwright migrations squash: merges migrations that no shared database has applied into one, and
// removes local data.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { checkRegistry, planGeneration, type Project } from "../pipeline/generate.js";
import { noMigrations, type MigrationHistory } from "../emit/migrations.js";
import { finishEarlier, generateAnew } from "./generate-anew.js";
import { usualBase } from "./git.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import { migrationsKept } from "./kept-migrations.js";
import type { ConfiguredProject } from "./project.js";
import { replacedMigrations } from "./replaced-migrations.js";

export interface SquashFlags {
  /** The branch whose migrations stay. */
  readonly base?: string;
  /** Asks nothing, and overwrites files that were edited by hand. */
  readonly force?: boolean;
}

/** Where the embedded engines keep what a local service stores. */
const dataFolder = ".data";

/**
 * Generates as if only the migrations of the base branch were there, and removes the local data
 * once it is confirmed. Throws `UsageError` if nobody can be asked, or there is no base to begin
 * from.
 */
export async function runSquash(
  configured: ConfiguredProject,
  flags: SquashFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  finishEarlier(configured.project, terminal);
  const { ref, base } = readBaseHistory(configured.project, flags);
  const project = { ...configured.project, base };
  const replaced = await migrationsReplaced(project);
  const isConfirmed =
    replaced.length === 0 || flags.force === true || (await ask(terminal, replaced, ref));
  if (!isConfirmed) {
    terminal.note("nothing was changed");
    return exitCodes.fine;
  }
  const data = join(project.root, dataFolder);
  // Before the migrations are written: a run that ends in between is one that nobody has begun, and
  // asks again.
  const removeData = (): void => {
    if (replaced.length === 0 || !existsSync(data)) return;
    rmSync(data, { recursive: true });
    terminal.out(`remove ${dataFolder}\n`);
  };
  const { code } = await generateAnew({ ...configured, project }, flags, terminal, removeData);
  if (code !== exitCodes.fine) return code;
  if (replaced.length === 0) {
    terminal.note(`no migration to fold: since ${ref} there is one at most`);
    return code;
  }
  return code;
}

/** The migrations that stay, and the branch that has them. */
function readBaseHistory(
  project: Project,
  { base, force }: SquashFlags,
): { readonly ref: string; readonly base: MigrationHistory } {
  const ref = base ?? usualBase(project.root);
  if (ref !== undefined) return { ref, base: migrationsKept(ref, project) };
  if (force === true) return { ref: "the first one", base: noMigrations };
  throw new UsageError(
    "there is no base branch: name it with --base, or fold all migrations into one with --force",
  );
}

/** Existing migrations that would change or disappear, relative to the generated folder. */
async function migrationsReplaced(project: Project): Promise<readonly string[]> {
  const checked = await checkRegistry(project);
  // What is wrong is shown when it is generated, and nothing is written then.
  if (checked.findings.length > 0) return [];
  const { changes } = await planGeneration(project, checked);
  return replacedMigrations(changes);
}

async function ask(
  { isInteractive }: Terminal,
  replaced: readonly string[],
  ref: string,
): Promise<boolean> {
  if (!isInteractive)
    throw new UsageError(
      `squash removes ${dataFolder} and asks before: run it in a terminal, or with --force`,
    );
  const { confirm, isCancel, note } = await import("@clack/prompts");
  note(replaced.join("\n"), `Migrations that ${ref} does not have`);
  const answer = await confirm({
    message: `Fold them into one, and remove ${dataFolder} with all that is stored here?`,
    initialValue: false,
  });
  return !isCancel(answer) && answer;
}
