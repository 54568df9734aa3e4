// opwright check: the registry is sound and the generated folder is what it gives. Writes nothing.
import { registryDigest, rememberClean, stillClean } from "../clean-state.js";
import { checkedPlan, driftDiff } from "./drift.js";
import { renderFindings } from "./findings.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

export async function runCheck(
  { project, format }: ConfiguredProject,
  terminal: Terminal,
): Promise<ExitCode> {
  const known = stillClean(project);
  const isMachine = format === "json" || format === "sarif";
  if (known !== undefined && !isMachine) {
    terminal.note(`${known} operations, nothing to report`);
    return exitCodes.fine;
  }
  const before = registryDigest(project);
  const { checked, plan, findings } = await checkedPlan(project);
  const changes = plan?.changes ?? [];
  const { textOf } = checked;
  if (findings.length > 0 || isMachine)
    terminal.out(
      renderFindings(findings, format, {
        textOf,
        isColoured: terminal.isColoured,
        root: project.root,
      }),
    );
  if (findings.length === 0) {
    const operations = Object.keys(checked.expanded.model.operations).length;
    rememberClean(project, before, checked.modules, operations);
    terminal.note(`${operations} operations, nothing to report`);
    return exitCodes.fine;
  }
  if (format === "pretty" && changes.length > 0)
    terminal.out(`\n${await driftDiff(project.paths.out, changes)}`);
  terminal.note(`${findings.length} ${findings.length === 1 ? "finding" : "findings"}`);
  return exitCodes.findings;
}
