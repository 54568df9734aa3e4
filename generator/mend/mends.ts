// The phase after checking: findings with one right answer get the edits that mend them
// (architecture.md "Build").
import type { DiagnosticCode } from "../diagnostics/catalogue.js";
import { suggestionText, type Finding, type Fix } from "../diagnostics/diagnostics.js";
import type { FormatShape } from "../load/shape.js";
import type { SourceTree } from "../load/source-tree.js";
import { documentNames, typeNames } from "../load/registry-names.js";
import { mendReference, mendRepeated, mendVersion } from "./of-files.js";
import { mendName } from "./of-names.js";
import { mendKey, mendValue, type ShapeContext } from "./of-shapes.js";
import { mendSyntax } from "./of-syntax.js";
import {
  mendBaseField,
  mendFieldType,
  mendKeyword,
  mendKeywordValue,
  mendReferred,
  mendRepeatedEntry,
  type TypeContext,
} from "./of-types.js";
import { WrittenFile } from "./written-file.js";

/** What findings are about. */
export interface Mendable {
  /** The registry: files that are not part of it are not mended. */
  readonly tree: SourceTree;
  readonly shape: FormatShape;
  readonly folder: string;
  /** Findings of loading: declarations in which they are count as missing. */
  readonly unsound: ReadonlySet<Finding>;
  /** Whether there is a file at a path of the project. */
  readonly exists: (path: string) => boolean;
  /** The registry as it was frozen last; empty if there is none. */
  readonly frozen: () => string;
}

/** What is needed to mend one finding. */
interface Context extends ShapeContext, TypeContext {
  readonly folder: string;
  readonly exists: (path: string) => boolean;
}

/**
 * Findings about types: where there are any, documents may be missing. What these name is found
 * though it is not sound.
 */
const ofTypes: ReadonlySet<DiagnosticCode> = new Set([
  "OPW010",
  "OPW011",
  "OPW013",
  "OPW020",
  "OPW021",
  "OPW023",
  "OPW024",
  "OPW025",
  "OPW026",
  "OPW029",
]);

/** Names that say what becomes of stored rows. */
const ofStored: ReadonlySet<DiagnosticCode> = new Set(["OPW035", "OPW039"]);

/** The same findings, with a fix where there is one right answer. */
export function withFixes(findings: readonly Finding[], mendable: Mendable): readonly Finding[] {
  const { tree, shape, folder, exists } = mendable;
  const files = new Map<string, WrittenFile>();
  const declared = new Set(typeNames(tree));
  const documents = new Set(documentNames(tree));
  const isDeclared = (section: string, name: string): boolean =>
    Object.hasOwn(tree.section(section), name);
  const fileOf = (path: string): WrittenFile | undefined => {
    const text = tree.texts.get(path);
    const known = files.get(path);
    if (text === undefined || known !== undefined) return known;
    const file = new WrittenFile(path, text);
    files.set(path, file);
    return file;
  };
  const isRipe = ripeAmong(findings, mendable);
  const isMisspelt = misspeltIn(mendable);
  const isUnread = new Set<string>();
  return findings.map((finding) => {
    const { code, at } = finding;
    const file = fileOf(at.file);
    if (file === undefined || ofStored.has(code) || !isRipe(finding) || !isMisspelt(finding))
      return finding;
    // The first complaint of the parser carries what mends the whole file.
    if (code === "OPW001" && isUnread.has(at.file)) return finding;
    if (code === "OPW001") isUnread.add(at.file);
    const fix = fixOf(finding, { shape, file, isDeclared, declared, documents, folder, exists });
    return fix === undefined || fix.length === 0 ? finding : mendedBy(finding, fix);
  });
}

/** Findings of a whole file: what is written there answers no "did you mean". */
const ofFiles: ReadonlySet<DiagnosticCode> = new Set(["OPW001", "OPW002", "OPW007"]);

/**
 * A finding with its fix: where that is one text in the place of another, that text is what it
 * suggests.
 */
function mendedBy(finding: Finding, fix: Fix): Finding {
  const { code, hint, suggestion } = finding;
  const [only, ...others] = fix;
  const isOneText = only !== undefined && others.length === 0 && /^\S.*$/.test(only.text);
  const isSaid =
    hint !== undefined || only?.text.includes(suggestionText(suggestion) ?? "\n") === true;
  return isOneText && !isSaid && !ofFiles.has(code)
    ? { ...finding, suggestion: only.text, fix }
    : { ...finding, fix };
}

/**
 * Which findings can be mended now: what an unsound declaration declares may be what a name means
 * that seems to be unknown. So loading comes first, then types, then names.
 */
function ripeAmong(
  findings: readonly Finding[],
  { unsound }: Mendable,
): (finding: Finding) => boolean {
  if (unsound.size > 0) return (finding) => unsound.has(finding);
  if (findings.some(({ code }) => ofTypes.has(code))) return ({ code }) => ofTypes.has(code);
  return () => true;
}

/**
 * Whether it is the name that is misspelt, and not the declaration: several places that agree know
 * better than the one that they refer to, and so does what was frozen last.
 */
function misspeltIn({ tree: { texts }, frozen }: Mendable): (finding: Finding) => boolean {
  const wasKnown = (name: string): boolean =>
    /^\w+$/.test(name) && RegExp(`\\b${name}\\b`).test(frozen());
  const counts = new Map<string, number>();
  const count = (word: string): number => counts.get(word) ?? 0;
  for (const text of texts.values())
    for (const [word] of text.matchAll(/[\w$]+(?:\.[\w$]+)*/g)) counts.set(word, count(word) + 1);
  return ({ code, suggestion }) => {
    if (typeof suggestion !== "object" || code === "OPW010" || code === "OPW023") return true;
    const { wrote, name } = suggestion;
    const isAgreed = count(exportOf(wrote)) > Math.max(1, count(exportOf(name)));
    return !isAgreed && (!wasKnown(wrote) || wasKnown(name));
  };
}

/** The export of a reference; of any other text, all of it. */
function exportOf(text: string): string {
  return text.slice(text.indexOf("#") + 1);
}

function fixOf(finding: Finding, context: Context): Fix | undefined {
  const { file } = context;
  switch (finding.code) {
    case "OPW001":
      return mendSyntax(finding, file);
    case "OPW002":
      return mendRepeated(finding, file);
    case "OPW007":
      return mendVersion(finding, file);
    case "OPW010":
      return mendKey(finding, context);
    case "OPW011":
    case "OPW013":
      return finding.at.isKey === true
        ? mendKey(finding, context)
        : (mendName(finding, file) ??
            mendValue(finding, context) ??
            mendReferred(finding.at.path, context) ??
            mendRepeatedEntry(finding.at.path, file.value(finding.at.path), context));
    case "OPW020":
    case "OPW026":
      return mendFieldType(finding, context);
    case "OPW023":
      return mendKeyword(finding, context);
    case "OPW024":
      return mendKeywordValue(finding, context);
    case "OPW025":
      return mendBaseField(finding, context);
    case "OPW042":
      return mendReference(finding, file, context);
    default:
      return mendName(finding, file);
  }
}
