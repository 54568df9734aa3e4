// opwright generate if something has changed.
import { registryState, rememberClean } from "../pipeline/clean-state.js";
import type { Finding } from "../diagnostics/diagnostics.js";
import {
  checkToGenerate,
  planGeneration,
  type CheckedRegistry,
  type GenerationPlan,
  type Project,
} from "../pipeline/generate.js";
import { GeneratedFolder } from "../output/folder.js";
import { isRemoval, type FileChange } from "../output/plan.js";
import { driftFindings, foreignWarnings } from "./drift.js";
import { renderFindings } from "./findings.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { mendedProject, ownedAfterMerge } from "./merged-folder.js";
import { replacedMigrations, undonePurges } from "./replaced-migrations.js";
import { addStubs, dividedByStubs } from "./stubs.js";

export interface GenerateFlags {
  /** Overwrites files that were edited by hand. */
  readonly force?: boolean;
  /** Adds missing handlers and hooks to the author's files first. */
  readonly stubs?: boolean;
  /** Prints what would be written, and writes nothing. */
  readonly dryRun?: boolean;
}

export interface GenerateOutcome {
  readonly code: ExitCode;
  /** How many files were created, changed or removed. */
  readonly written: number;
}

/**
 * Checks the registry and writes the generated folder. `before` runs once it is certain that it
 * will be written, and before it is.
 */
export async function generateAnew(
  { project: given, format }: ConfiguredProject,
  flags: GenerateFlags,
  terminal: Terminal,
  before = (): void => undefined,
): Promise<GenerateOutcome> {
  if (flags.dryRun !== true) finishEarlier(given, terminal);
  const { project, note } = mendedProject(given);
  const tell = (warnings: readonly Finding[], textOf: CheckedRegistry["textOf"]): void => {
    const { isColoured } = terminal;
    if (warnings.length > 0)
      terminal.out(renderFindings(warnings, format, { textOf, isColoured, root: project.root }));
  };
  let state = registryState(project);
  let checked = await checkToGenerate(project);
  const { mended, others } =
    flags.stubs === true ? dividedByStubs(checked) : { mended: [], others: checked.findings };
  // With any other finding, nothing is written at all.
  if (
    mended.length > 0 &&
    others.length === 0 &&
    flags.dryRun !== true &&
    refusedOf(await planGeneration(project, checked), flags).length === 0
  ) {
    for (const added of await addStubs(project, checked)) terminal.note(`added ${added}`);
    state = registryState(project);
    checked = await checkToGenerate(project);
  }
  const { textOf, findings } = checked;
  const show = (shown: typeof findings): GenerateOutcome => {
    terminal.out(
      renderFindings(shown, format, {
        textOf,
        isColoured: terminal.isColoured,
        root: project.root,
      }),
    );
    terminal.note(
      `${shown.length} ${shown.length === 1 ? "finding" : "findings"}; nothing was written`,
    );
    return { code: exitCodes.findings, written: 0 };
  };
  if (findings.length > 0 && others.length > 0) {
    // Who asks for stubs need not be told that they are missing.
    if (mended.length > 0)
      terminal.note(
        `${mended.length} missing ${mended.length === 1 ? "function is" : "functions are"} not listed: --stubs writes them once the rest is mended`,
      );
    return show(others);
  }
  if (findings.length > 0) return show(findings);

  const plan = await plannedAfterMerge(project, checked, flags);
  const warnings = [...checked.warnings, ...foreignWarnings(project.paths.out, plan)];
  tell(warnings, textOf);
  const { changes, files } = plan;
  const refused = refusedOf(plan, flags);
  if (refused.length > 0) return show(driftFindings(project.paths.out, refused));
  if (note !== undefined) terminal.note(note);
  if (flags.dryRun !== true && !isWritten(plan, before)) {
    terminal.note("another generate has written meanwhile: run it again");
    return { code: exitCodes.io, written: 0 };
  }
  for (const change of changes)
    terminal.out(`${verb(change)} ${project.paths.out}/${change.path}\n`);
  for (const told of toldOfReplaced(changes)) terminal.note(told);
  const operations = Object.keys(checked.expanded.model.operations).length;
  if (flags.dryRun !== true) rememberClean(project, state, { ...checked, warnings });
  terminal.note(
    changes.length === 0
      ? `${operations} operations, nothing to change`
      : `${operations} operations, ${files.length} files, ${changes.length} ${flags.dryRun === true ? "to write" : "written"}`,
  );
  return { code: exitCodes.fine, written: flags.dryRun === true ? 0 : changes.length };
}

/** Finishes what an earlier run had begun to write, if it was interrupted. */
export function finishEarlier({ root, paths }: Project, terminal: Terminal): void {
  if (new GeneratedFolder(root, paths.out).finishInterrupted())
    terminal.note("an earlier generate was interrupted: what it had begun is finished");
}

/** Writes what is planned. Returns whether it could. */
function isWritten({ changes, manifest, folder }: GenerationPlan, before: () => void): boolean {
  if (changes.length === 0) return true;
  const staged = folder.stage(changes, manifest);
  before();
  return staged.commit();
}

/**
 * What generating would change. If files seem to be edited, git is asked whether a merge left them
 * so.
 */
async function plannedAfterMerge(
  project: Project,
  checked: CheckedRegistry,
  flags: GenerateFlags,
): Promise<GenerationPlan> {
  const plan = await planGeneration(project, checked);
  if (refusedOf(plan, flags).length === 0) return plan;
  const owned = ownedAfterMerge(project);
  return owned === undefined ? plan : planGeneration({ ...project, owned }, checked);
}

/** What is to be said where migrations were replaced. */
function toldOfReplaced(changes: readonly FileChange[]): readonly string[] {
  const replaced = replacedMigrations(changes);
  const undone = undonePurges(changes);
  return [
    ...(replaced.length === 0
      ? []
      : [
          `databases that applied ${replaced.join(", ")} can no longer be used: make them anew (a local one: remove .data)`,
        ]),
    ...(undone.length === 0
      ? []
      : [`no migration drops ${undone.join(", ")} now: run \`opwright migrations purge\` again`]),
  ];
}

/** Files that are not overwritten. */
function refusedOf({ changes }: GenerationPlan, { force }: GenerateFlags): readonly FileChange[] {
  return changes.filter(({ kind }) => kind === "foreign" || (kind === "edited" && force !== true));
}

function verb(change: FileChange): string {
  if (change.kind === "missing") return "create";
  return isRemoval(change) ? "remove" : "update";
}
