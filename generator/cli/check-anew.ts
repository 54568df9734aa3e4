// opwright check if something has changed: checks the registry and compares everything that it
// generates.
import { registryState, rememberClean } from "../pipeline/clean-state.js";
import { checkedPlan, driftDiff } from "./drift.js";
import { renderFindings } from "./findings.js";
import { lostSince } from "./lost-migrations.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { checkedNote } from "./unchanged.js";

/** Shows the findings; in formats for machines also if there are none. */
export async function checkAnew(
  { project, format }: ConfiguredProject,
  terminal: Terminal,
  { isMachine, base }: { readonly isMachine: boolean; readonly base: string | undefined },
): Promise<ExitCode> {
  const before = registryState(project);
  const { checked, plan, findings: found, warnings } = await checkedPlan(project);
  const findings = [...found, ...(base === undefined ? [] : lostSince(base, project, checked))];
  const changes = plan?.changes ?? [];
  const { textOf } = checked;
  const shown = [...findings, ...warnings];
  const { isColoured } = terminal;
  if (shown.length > 0 || isMachine)
    terminal.out(renderFindings(shown, format, { textOf, isColoured, root: project.root }));
  if (findings.length === 0) {
    const operations = Object.keys(checked.expanded.model.operations).length;
    rememberClean(project, before, { ...checked, warnings });
    terminal.note(checkedNote({ operations, warnings: warnings.length }));
    return exitCodes.fine;
  }
  if (format === "pretty" && changes.length > 0)
    terminal.out(`\n${await driftDiff(project.paths.out, changes)}`);
  terminal.note(`${findings.length} ${findings.length === 1 ? "finding" : "findings"}`);
  return exitCodes.findings;
}
