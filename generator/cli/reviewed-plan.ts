// What commands make something of that leaves the project: the generated folder as it was reviewed.
import type { CheckedRegistry, GenerationPlan } from "../pipeline/generate.js";
import { checkedPlan } from "./drift.js";
import { renderFindings } from "./findings.js";
import type { Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

/**
 * The plan of a project whose registry has no findings and whose generated folder matches it.
 * Otherwise undefined, and the findings are printed, with a note of what could not be done to it
 * (`packed`).
 */
export async function reviewedPlan(
  { project, format }: ConfiguredProject,
  done: string,
  terminal: Terminal,
): Promise<{ readonly checked: CheckedRegistry; readonly plan: GenerationPlan } | undefined> {
  const { checked, plan, findings } = await checkedPlan(project);
  if (plan !== undefined && findings.length === 0) return { checked, plan };
  const { textOf } = checked;
  const { isColoured } = terminal;
  terminal.out(renderFindings(findings, format, { textOf, isColoured, root: project.root }));
  terminal.note(`what is ${done} is what was reviewed: run \`opwright generate\` first`);
  return undefined;
}
