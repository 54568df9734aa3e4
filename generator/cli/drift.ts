// What `check` reports if the generated folder differs: a finding per file, and a unified diff.
import {
  checkToGenerate,
  planGeneration,
  type CheckedRegistry,
  type GenerationPlan,
  type Project,
} from "../pipeline/generate.js";
import { manifestName } from "../output/manifest.js";
import type { FileChange } from "../output/plan.js";
import type { DiagnosticCode } from "../diagnostics/catalogue.js";
import type { Finding } from "../diagnostics/diagnostics.js";
import { cut, visible } from "./excerpt.js";

/** Longer files aren't made to be read. */
const widestDiff = 500;

const codes: Readonly<Record<FileChange["kind"], DiagnosticCode>> = {
  changed: "OPW080",
  missing: "OPW081",
  stale: "OPW082",
  edited: "OPW083",
  foreign: "OPW084",
};

const messages: Readonly<Record<FileChange["kind"], string>> = {
  changed: "is out of date",
  missing: "is missing",
  stale: "is no longer generated",
  edited: "was edited by hand",
  foreign: "is in the way and is not ours",
};

/**
 * The state of a project: its findings, including drift, and its plan if the registry itself has no
 * findings.
 */
export async function checkedPlan(project: Project): Promise<{
  readonly checked: CheckedRegistry;
  readonly plan: GenerationPlan | undefined;
  readonly findings: readonly Finding[];
  readonly warnings: readonly Finding[];
}> {
  const checked = await checkToGenerate(project);
  const plan = checked.findings.length > 0 ? undefined : await planGeneration(project, checked);
  const drift = driftFindings(project.paths.out, plan?.changes ?? []);
  return {
    checked,
    plan,
    findings: [...checked.findings, ...drift],
    warnings: [...checked.warnings, ...foreignWarnings(project.paths.out, plan)],
  };
}

/** A warning for each file of the generated folder that opwright neither wrote nor would write. */
export function foreignWarnings(
  out: string,
  plan: Pick<GenerationPlan, "foreign"> | undefined,
): readonly Finding[] {
  return (plan?.foreign ?? []).map((path) => ({
    code: "OPW087",
    message: `${out}/${path} is not ours`,
    at: { file: `${out}/${path}`, path: [] },
  }));
}

/** One finding per change. */
export function driftFindings(out: string, changes: readonly FileChange[]): readonly Finding[] {
  return changes.map((change) => ({
    code: codes[change.kind],
    message: `${out}/${change.path} ${messages[change.kind]}`,
    at: { file: `${out}/${change.path}`, path: [] },
  }));
}

/** The unified diff that generating would make, cut after `maxLines`. */
export async function driftDiff(
  out: string,
  changes: readonly FileChange[],
  maxLines = 400,
): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  const lines = changes
    .filter(({ path }) => path !== manifestName)
    .flatMap((change) => {
      const before = change.kind === "missing" ? "" : change.before;
      const after = change.kind === "stale" ? "" : (change.text ?? "");
      const name = `${out}/${change.path}`;
      return createTwoFilesPatch(`a/${name}`, `b/${name}`, before, after, "", "", { context: 2 })
        .split("\n")
        .slice(1)
        .map((line) => cut(visible(line), widestDiff));
    });
  if (lines.length <= maxLines) return lines.join("\n");
  return `${lines.slice(0, maxLines).join("\n")}\n… ${lines.length - maxLines} more lines\n`;
}
