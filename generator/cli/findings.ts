// Showing findings: with code frames for people, or as JSON, GitHub annotations or SARIF for
// machines.
import type { Severity } from "../diagnostics/catalogue-entry.js";
import { catalogue } from "../families/catalogue.js";
import {
  suggestionText,
  type Finding,
  type Fix,
  type Origin,
  type TextEdit,
} from "../diagnostics/diagnostics.js";
import { githubAnnotation } from "../print/github-annotation.js";
import { locator, type SourcePosition } from "../load/locate.js";
import { oneLine } from "../project/markdown.js";
import type { FindingFormat } from "./finding-formats.js";
import { codeFrame, cut, visible } from "./excerpt.js";
import { repositoryPrefix } from "./repository.js";

/** Bounds messages, because names in them are as long as the registry's author made them. */
const longestMessage = 500;

/** A finding with its place, as data. */
export interface Diagnostic {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly at: SourcePosition;
  readonly related: readonly { readonly message: string; readonly at: SourcePosition }[];
  readonly suggestion?: string;
  /** The right way, where this finding knows more than `advice`. */
  readonly hint?: string;
  /** What to do about findings of this code, in words. */
  readonly advice: string;
  /** The edits that mend it, where there is one right answer. */
  readonly fix?: Fix;
}

/** Locates findings and sorts them by file, line and code. */
function toDiagnostics(
  findings: readonly Finding[],
  textOf: (file: string) => string | undefined,
): readonly Diagnostic[] {
  const locate = locator(textOf);
  const place = (origin: Origin): SourcePosition => locate(origin);
  return findings
    .map((finding) => ({
      code: finding.code,
      severity: catalogue[finding.code].severity,
      message: cut(finding.message, longestMessage),
      at: place(finding.at),
      related: (finding.related ?? []).map(({ message, at }) => ({
        message: cut(message, longestMessage),
        at: place(at),
      })),
      ...suggestionOf(finding),
      ...(finding.hint === undefined ? {} : { hint: cut(finding.hint, longestMessage) }),
      advice: catalogue[finding.code].fix,
      ...(finding.fix === undefined ? {} : { fix: finding.fix }),
    }))
    .sort(byPlace);
}

function suggestionOf(finding: Finding): { readonly suggestion?: string } {
  const suggestion = suggestionText(finding.suggestion);
  return suggestion === undefined ? {} : { suggestion: cut(suggestion, longestMessage) };
}

export interface FindingOptions {
  readonly textOf: (file: string) => string | undefined;
  readonly isColoured: boolean;
  /** Where the project is: annotations and SARIF are read from its repository's root. */
  readonly root: string;
}

/** The report of findings in one format. */
export function renderFindings(
  findings: readonly Finding[],
  format: FindingFormat,
  options: FindingOptions,
): string {
  return renderDiagnostics(toDiagnostics(findings, options.textOf), format, options);
}

function byPlace(left: Diagnostic, right: Diagnostic): number {
  if (left.at.file !== right.at.file) return left.at.file < right.at.file ? -1 : 1;
  return (
    left.at.line - right.at.line || left.at.col - right.at.col || (left.code < right.code ? -1 : 1)
  );
}

/**
 * The report of all diagnostics in one format; pretty and github end with a newline, the others are
 * one document.
 */
function renderDiagnostics(
  diagnostics: readonly Diagnostic[],
  format: FindingFormat,
  options: FindingOptions,
): string {
  switch (format) {
    case "json":
      return `${JSON.stringify({ diagnostics }, null, 2)}\n`;
    case "github": {
      const prefix = repositoryPrefix(options.root);
      return diagnostics.map((one) => annotation(one, prefix, options.textOf)).join("");
    }
    case "sarif":
      return `${JSON.stringify(sarif(diagnostics, repositoryPrefix(options.root)), null, 2)}\n`;
    case "pretty":
      return diagnostics.map((diagnostic) => prettyText(diagnostic, options)).join("\n");
  }
}

function annotation(
  diagnostic: Diagnostic,
  prefix: string,
  textOf: FindingOptions["textOf"],
): string {
  const { code, severity, at, fix } = diagnostic;
  const mended = fix === undefined ? "" : ` \`check --fix\` writes ${shownFix(fix, textOf)}.`;
  const message = withAdvice(diagnostic) + mended;
  const place = { ...at, file: prefix + at.file, endCol: at.col + at.length };
  return githubAnnotation(severity, place, `${code} ${catalogueTitle(code)}`, message);
}

/** The message, and how to mend it where that is known. */
function withAdvice({ message, suggestion, hint }: Diagnostic): string {
  const meant = suggestion === undefined ? "" : ` Did you mean ${suggestion}?`;
  return `${message}${meant}${hint === undefined ? "" : ` ${hint}`}`;
}

function catalogueTitle(code: string): string {
  return catalogue[code as keyof typeof catalogue].title;
}

function sarif(diagnostics: readonly Diagnostic[], prefix: string): unknown {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        columnKind: "utf16CodeUnits",
        tool: {
          driver: {
            name: "opwright",
            rules: codes.map((id) => ({ id, shortDescription: { text: catalogueTitle(id) } })),
          },
        },
        results: diagnostics.map((diagnostic) => ({
          ruleId: diagnostic.code,
          level: diagnostic.severity,
          message: { text: withAdvice(diagnostic) },
          locations: [sarifLocation(diagnostic.at, prefix)],
          relatedLocations: diagnostic.related.map((place) => ({
            ...sarifLocation(place.at, prefix),
            message: { text: place.message },
          })),
          ...(diagnostic.fix === undefined ? {} : { fixes: [sarifFix(diagnostic.fix, prefix)] }),
        })),
      },
    ],
  };
}

function sarifLocation(at: SourcePosition, prefix: string): { readonly physicalLocation: unknown } {
  return {
    physicalLocation: {
      artifactLocation: { uri: prefix + at.file },
      region: { startLine: at.line, startColumn: at.col, endColumn: at.col + at.length },
    },
  };
}

/** SARIF 2.1.0 §3.55: one change for each file. */
function sarifFix(fix: Fix, prefix: string): { readonly artifactChanges: readonly unknown[] } {
  const files = [...new Set(fix.map(({ file }) => file))];
  return {
    artifactChanges: files.map((file) => ({
      artifactLocation: { uri: prefix + file },
      replacements: fix.filter((edit) => edit.file === file).map(sarifReplacement),
    })),
  };
}

function sarifReplacement({ range: { start, end }, text }: TextEdit): object {
  return {
    deletedRegion: {
      startLine: start.line,
      startColumn: start.col,
      endLine: end.line,
      endColumn: end.col,
    },
    ...(text === "" ? {} : { insertedContent: { text } }),
  };
}

/** The widest text that is shown of an edit. */
const widestEdit = 60;

/** What a fix writes instead of what, on one line. */
function shownFix(fix: Fix, textOf: FindingOptions["textOf"]): string {
  const shown = (text: string): string => cut(oneLine(visible(text.trim())), widestEdit);
  return fix
    .map(({ file, range, text }) => {
      const before = shown((textOf(file) ?? "").slice(range.start.offset, range.end.offset));
      const after = shown(text);
      if (after === "") return `nothing instead of ${before}`;
      return before === "" ? after : `${after} instead of ${before}`;
    })
    .join(", ");
}

function prettyText(diagnostic: Diagnostic, { textOf, isColoured }: FindingOptions): string {
  const paint = (code: number, text: string): string =>
    isColoured ? `\u001b[${code}m${text}\u001b[0m` : text;
  const { code, severity, message, at, related, suggestion, hint, advice, fix } = diagnostic;
  const lines = [
    `${oneLine(at.file)}:${at.line}:${at.col} ${paint(severity === "error" ? 31 : 33, severity)} ${paint(1, code)} ${oneLine(message)}`,
    ...codeFrame(at, textOf(at.file), (marker) => paint(31, marker)),
    ...related.flatMap((place) => [
      `  ${oneLine(place.message)}: ${oneLine(place.at.file)}:${place.at.line}:${place.at.col}`,
    ]),
    ...(suggestion === undefined ? [] : [`  ${paint(36, "did you mean")} ${oneLine(suggestion)}?`]),
    // What the finding itself knows says more than what its code does.
    ...(suggestion !== undefined && hint === undefined
      ? []
      : [`  ${paint(36, "fix")} ${oneLine(hint ?? advice)}`]),
    ...(fix === undefined ? [] : [`  ${paint(36, "check --fix")} writes ${shownFix(fix, textOf)}`]),
  ];
  return `${lines.join("\n")}\n`;
}
