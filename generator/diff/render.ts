// Reports for people, pull requests, machines and GitHub's annotations.
import { githubAnnotation } from "../print/github-annotation.js";
import { needsApproval } from "../compare/change.js";
import type { SourcePosition } from "../load/locate.js";
import { markdownText, oneLine } from "../project/markdown.js";
import type { DiffFormat } from "./formats.js";
import { each } from "./causes.js";
import { isRefused, diffSummary, type DiffReport, type JudgedCause } from "./report.js";

export interface RenderOptions {
  readonly isColoured: boolean;
  /** The place of a change, if it can be found. */
  readonly place: (cause: JudgedCause) => SourcePosition;
  /** The project's folder in its repository, with a slash at the end. */
  readonly prefix: string;
}

/** A report in one format; every format ends with a newline. */
export function renderDiff(
  report: DiffReport,
  format: DiffFormat,
  { isColoured, place, prefix }: RenderOptions,
): string {
  switch (format) {
    case "json":
      return `${JSON.stringify(report, null, 2)}\n`;
    case "markdown":
      return markdown(report);
    case "github":
      return [
        ...report.causes.map((cause) => annotation(cause, place(cause))),
        ...report.lost.map(({ file, text }) =>
          githubAnnotation("error", { file: prefix + file, line: 1, col: 1 }, lostTitle, text),
        ),
      ].join("");
    case "pretty":
      return pretty(report, isColoured);
  }
}

const lostTitle = "Databases of the base cannot go on";

const marks = { opens: "!", breaking: "-", additive: "+", documentation: " " } as const;
const colours = { opens: 35, breaking: 31, additive: 32, documentation: 36 } as const;

function pretty(report: DiffReport, isColoured: boolean): string {
  const paint = (code: number, text: string): string =>
    isColoured ? `\u001b[${code}m${text}\u001b[0m` : text;
  const lines = gatherHarmless(report.causes).flatMap((cause) => {
    const { level, text: raw, affects, approved } = cause;
    const label = labelOf(cause);
    const text = oneLine(raw);
    const others = affects.filter(
      (one) => !text.startsWith(`${one} `) && !text.startsWith(`${one}.`),
    );
    return [
      `${paint(colours[level], `${marks[level]} ${label.padEnd(13)}`)} ${text}`,
      ...(others.length === 0 ? [] : [`${" ".repeat(16)}${listNames(others, 8)}`]),
      ...below(cause).map((line) => `${" ".repeat(16)}${line}`),
      ...(approved === null ? [] : [`${" ".repeat(16)}approved: ${oneLine(approved)}`]),
    ];
  });
  const { version } = report;
  return `${[
    ...lines,
    ...(lines.length === 0 ? [] : [""]),
    `${diffSummary(report)} since ${report.against}; version ${version.after}, suggested ${version.suggested}`,
    ...(report.rollout === null
      ? []
      : [report.rollout.verdict, ...report.rollout.steps.map((step) => `  ${oneLine(step)}`)]),
    ...(report.lost.length === 0
      ? []
      : [paint(31, lostTitle), ...report.lost.map(({ text }) => `  ${oneLine(text)}`)]),
  ].join("\n")}\n`;
}

/** The level of a cause, in a word or two. */
function labelOf({ level, breaks }: JudgedCause): string {
  return breaks === true ? `${level}, breaks` : level;
}

/** How many harmless changes of one operation or type are listed one by one. */
const mostTold = 3;

/**
 * Changes for people: many harmless ones of one operation or type are one line, and JSON has them
 * all.
 */
function gatherHarmless(causes: readonly JudgedCause[]): readonly JudgedCause[] {
  const groups = new Map<string, JudgedCause[]>();
  for (const change of causes) {
    const key = needsApproval(change.level)
      ? change.text
      : `${change.level} ${change.subject.name}`;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length <= mostTold) return group;
    const affects = [...new Set(group.flatMap((change) => change.affects))].sort();
    const what = first.level === "additive" ? "offers more" : "is described otherwise";
    return [
      {
        ...first,
        affects,
        follows: [],
        text: `${first.subject.name} ${what} in ${group.length} places`,
      },
    ];
  });
}

/** A text without the direction in which it is true. */
function bare(text: string): string {
  return text.replace(/ in (?:input|answers)$/, "");
}

/** The consequences of a cause, in a line, and the gaps of its approval. */
function below({ text, follows, uncovered }: JudgedCause): readonly string[] {
  const others = follows
    .map((one) => oneLine(one))
    .filter((one) => bare(one) !== bare(oneLine(text)))
    .filter((one) => !text.startsWith(each) || !one.endsWith(text.slice(each.length)));
  return [
    ...(others.length === 0 ? [] : [`with ${listNames(others, 3)}`]),
    ...(uncovered.length === 0 ? [] : [`approved, but not in ${listNames(uncovered, 8)}`]),
  ];
}

/** The first names, and how many more there are. */
function listNames(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.slice(0, most).join(", ") + more;
}

function markdown(report: DiffReport): string {
  const { version, against, causes } = report;
  const rows = gatherHarmless(causes).map((cause) => {
    const { text, affects, approved } = cause;
    const told = isRefused(cause) ? `**${labelOf(cause)}**` : labelOf(cause);
    const reason = approved === null ? "" : `<br>approved: ${markdownText(approved)}`;
    const more = below(cause).map((line) => `<br>${markdownText(line)}`);
    return `| ${told} | ${markdownText(text)}${more.join("")}${reason} | ${markdownText(listNames(affects, 12))} |`;
  });
  const table =
    rows.length === 0 ? [] : ["", "| | change | clients meet it in |", "|---|---|---|", ...rows];
  const refusal = causes.some(isRefused) ? ["", `${approvalNeeded}.`] : [];
  return `${[
    `### API changes since \`${against}\`: ${diffSummary(report)}`,
    "",
    `Version ${version.after}; ${version.suggested} follows from the changes.`,
    ...(report.rollout === null
      ? []
      : [
          "",
          `Rollout: **${report.rollout.verdict}**${report.rollout.steps.length === 0 ? "." : ":"}`,
          ...(report.rollout.steps.length === 0 ? [] : [""]),
          ...report.rollout.steps.map((step) => `- ${markdownText(step)}`),
        ]),
    ...(report.lost.length === 0
      ? []
      : ["", `**${lostTitle}**:`, "", ...report.lost.map(({ text }) => `- ${markdownText(text)}`)]),
    ...table,
    ...refusal,
  ].join("\n")}\n`;
}

/** The remedy for a refused report. */
export const approvalNeeded =
  "What opens access or breaks clients needs an entry of `approved:` in the registry, with a reason";

function annotation(change: JudgedCause, { file, line, col }: SourcePosition): string {
  const { level } = change;
  const command = isRefused(change) ? "error" : needsApproval(level) ? "warning" : "notice";
  const reason = change.approved === null ? "" : ` (approved: ${change.approved})`;
  const title = level === "opens" ? "opens access" : `${level} change`;
  return githubAnnotation(command, { file, line, col }, title, change.text + reason);
}
