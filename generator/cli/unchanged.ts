// A project that is unchanged since it was last clean: prints the same result again, without
// loading the generator.
import { stillClean } from "../pipeline/clean-state.js";
import { textOfFile } from "../load/project-file.js";
import type { Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

/**
 * Prints the warnings of an unchanged project, and returns how many operations and warnings it has;
 * otherwise undefined.
 */
export async function reportUnchanged(
  { project, format }: ConfiguredProject,
  terminal: Terminal,
): Promise<{ readonly operations: number; readonly warnings: number } | undefined> {
  const known = stillClean(project);
  if (known === undefined) return undefined;
  const { operations, warnings } = known;
  if (warnings.length > 0) {
    const { renderFindings } = await import("./findings.js");
    const textOf = (file: string): string | undefined => textOfFile(project.root, file);
    const { isColoured } = terminal;
    terminal.out(renderFindings(warnings, format, { textOf, isColoured, root: project.root }));
  }
  return { operations, warnings: warnings.length };
}

/** The last line of a check without findings. */
export function checkedNote(counts: {
  readonly operations: number;
  readonly warnings: number;
}): string {
  return `${counts.operations} operations, ${countWarnings(counts.warnings)}`;
}

function countWarnings(warnings: number): string {
  if (warnings === 0) return "nothing to report";
  return warnings === 1 ? "1 warning" : `${warnings} warnings`;
}
