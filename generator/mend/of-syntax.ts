// Texts that are no YAML, where a small change of one kind makes them YAML: tabs, missing quotation
// marks and spaces.
import { parseDocument } from "yaml";
import type { Finding, Fix } from "../diagnostics/diagnostics.js";
import type { WrittenFile } from "./written-file.js";

interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The change that the parser asks for at the place of its first complaint, if nothing is wrong
 * afterwards.
 */
export function mendSyntax({ at }: Finding, file: WrittenFile): Fix | undefined {
  if (at.offset === undefined) return undefined;
  for (const kind of kinds) {
    const changes = kind(file.text);
    if (changes.length === 0 || faultAt(applyChanges(file.text, changes)) !== undefined) continue;
    return changes.map(({ start, end, text }) => file.edit(start, end, text));
  }
  return mendStepwise(file);
}

/** Several changes, each where the parser stops next. */
function mendStepwise(file: WrittenFile): Fix | undefined {
  const changes: Change[] = [];
  for (let round = 0; round < 50; round += 1) {
    const fault = faultAt(applyChanges(file.text, changes));
    if (fault === undefined)
      return changes.map(({ start, end, text }) => file.edit(start, end, text));
    const next = nextChange(file.text, changes, fault);
    if (next === undefined) return undefined;
    changes.push(next);
  }
  return undefined;
}

/** Of the changes near a fault, the first after which the next fault is further down. */
function nextChange(text: string, changes: readonly Change[], fault: number): Change | undefined {
  const line = lineOf(applyChanges(text, changes), fault);
  const candidates = local
    .flatMap((kind) => kind(text))
    .filter(({ start }) => !changes.some((other) => other.start === start))
    .filter(({ start }) => Math.abs(lineOf(text, start) - line) <= 1);
  return candidates.find((candidate) => {
    const further = faultAt(applyChanges(text, [...changes, candidate]));
    const grown = candidate.text.length - (candidate.end - candidate.start);
    return further === undefined || further - grown > fault;
  });
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** Where the first fault of a text is. */
function faultAt(text: string): number | undefined {
  const document = parseDocument(text, { version: "1.2", schema: "core", prettyErrors: false });
  const offsets = [...document.errors, ...document.warnings].map(({ pos }) => pos[0]);
  return offsets.length === 0 ? undefined : Math.min(...offsets);
}

function applyChanges(text: string, changes: readonly Change[]): string {
  return changes
    .toSorted((left, right) => right.start - left.start)
    .reduce(
      (written, { start, end, text: replacement }) =>
        written.slice(0, start) + replacement + written.slice(end),
      text,
    );
}

/** Changes that are made everywhere at once. */
const kinds: readonly ((text: string) => readonly Change[])[] = [tabs];

/** Changes that are tried one by one. */
const local: readonly ((text: string) => readonly Change[])[] = [
  // {tags: string[]}
  (text) => matches(text, /(?<=[{,:[] *)[A-Za-z][\w-]*(?:\[\]|\?)*\[\]\??(?= *[,}\]])/g, quoteText),
  // {authorize: {resource}.read}
  (text) => matches(text, /(?<=[:,[-] *)\{\w+\}[^\s{},[\]]+/g, quoteText),
  // key:value
  (text) => matches(text, /(?<=^ *(?:- )?[A-Za-z_][\w.]*):(?=[^\s:/])/gm, () => ": "),
  // key = value
  (text) => matches(text, /(?<=^ *(?:- )?[A-Za-z_][\w.]*) ?= ?(?=\S)/gm, () => ": "),
  // @name, `text`, %x
  (text) => matches(text, /(?<=[:,[-] +)[@`%][^,{}[\]#\n]*[^\s,{}[\]#]/g, quoteText),
  // description: Note: this
  (text) =>
    matches(text, /(?<=^ *(?:- )?[\w.]+: )[^\s"'{[|>&*!#][^\n#]*: [^\n#]*[^\s#]/gm, quoteText),
  // // a comment
  (text) => matches(text, /(?<=^ *)\/\/(?= )/gm, () => "#"),
];

/** Tabs before keys, as far to the right as the spaces of the file are. */
function tabs(text: string): readonly Change[] {
  // Tabs may be part of a text that goes on below.
  if (/[:-] +[|>][-+\d]*[ \t]*(?:#.*)?$/m.test(text)) return [];
  const steps = [...text.matchAll(/^( +)(?=\S)/gm)].map(([, spaces = ""]) => spaces.length);
  const width = steps.length === 0 ? 2 : Math.min(...steps);
  return matches(text, /^[ \t]*\t[ \t]*(?=\S)/gm, (indent) =>
    indent.replaceAll("\t", " ".repeat(width)),
  );
}

function matches(
  text: string,
  pattern: RegExp,
  written: (found: string) => string,
): readonly Change[] {
  return [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
    text: written(found),
  }));
}

function quoteText(text: string): string {
  return JSON.stringify(text);
}
