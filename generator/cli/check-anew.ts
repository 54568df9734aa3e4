// opwright check where something has changed: the registry is checked and all that it gives is compared.
import { registryDigest, rememberClean } from "../clean-state.js";
import { checkedPlan, driftDiff } from "./drift.js";
import { renderFindings } from "./findings.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { checkedNote } from "./unchanged.js";

/** Shows what was found; for machines also where that is nothing. */
export async function checkAnew(
  { project, format }: ConfiguredProject,
  terminal: Terminal,
  isMachine: boolean,
): Promise<ExitCode> {
  const before = registryDigest(project);
  const { checked, plan, findings, warnings } = await checkedPlan(project);
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
