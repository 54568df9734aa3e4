// opwright check: the registry is sound and the generated folder is what it gives. Writes nothing.
import { registryDigest, rememberClean, stillClean } from "../clean-state.js";
import type { Finding } from "../diagnostics.js";
import { textOfFile, type CheckedRegistry } from "../generate.js";
import { checkedPlan, driftDiff } from "./drift.js";
import { renderFindings } from "./findings.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

export async function runCheck(
  { project, format }: ConfiguredProject,
  terminal: Terminal,
): Promise<ExitCode> {
  const tell = (shown: readonly Finding[], textOf: CheckedRegistry["textOf"]): void =>
    terminal.out(
      renderFindings(shown, format, {
        textOf,
        isColoured: terminal.isColoured,
        root: project.root,
      }),
    );
  const known = stillClean(project);
  const isMachine = format === "json" || format === "sarif";
  if (known !== undefined && !isMachine) {
    if (known.warnings.length > 0) tell(known.warnings, (file) => textOfFile(project.root, file));
    terminal.note(`${known.operations} operations, ${told(known.warnings)}`);
    return exitCodes.fine;
  }
  const before = registryDigest(project);
  const { checked, plan, findings, warnings } = await checkedPlan(project);
  const changes = plan?.changes ?? [];
  const { textOf } = checked;
  const shown = [...findings, ...warnings];
  if (shown.length > 0 || isMachine) tell(shown, textOf);
  if (findings.length === 0) {
    const operations = Object.keys(checked.expanded.model.operations).length;
    rememberClean(project, before, { ...checked, warnings });
    terminal.note(`${operations} operations, ${told(warnings)}`);
    return exitCodes.fine;
  }
  if (format === "pretty" && changes.length > 0)
    terminal.out(`\n${await driftDiff(project.paths.out, changes)}`);
  terminal.note(`${findings.length} ${findings.length === 1 ? "finding" : "findings"}`);
  return exitCodes.findings;
}

function told(warnings: readonly Finding[]): string {
  if (warnings.length === 0) return "nothing to report";
  return warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
}
