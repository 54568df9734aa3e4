// opwright check --fix: mends findings that have one right answer, in the registry's own files,
// round by round.
import { readFileSync } from "node:fs";
import { checkRegistry, type Project } from "../pipeline/generate.js";
import { apart, applyEdits } from "../mend/edits.js";
import type { Finding, Fix } from "../diagnostics/diagnostics.js";
import { projectEntry } from "../load/project-file.js";
import { parseYaml } from "../load/source-tree.js";
import { writeWhole } from "../output/whole-file.js";
import { cut, visible } from "./excerpt.js";
import type { Terminal } from "./io.js";

/** Mending one finding can show the next; a registry that isn't done by then is mended by hand. */
const maxRounds = 20;

/** Longer lines of the diff are cut. */
const widestDiff = 500;

/** What has become of a file. */
export interface MendedFile {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** Mends a registry, prints what it changed as a diff, and says how much that was. */
export async function fixRegistry(
  project: Project,
  print: (text: string) => void,
  terminal: Terminal,
): Promise<void> {
  const { files } = await mendRegistry(project);
  if (files.length === 0) {
    terminal.note("nothing that can be mended mechanically");
    return;
  }
  const { createTwoFilesPatch } = await import("diff");
  for (const { file, before, after } of files) {
    const patch = createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, "", "", {
      context: 1,
    });
    const lines = patch.split("\n").slice(1);
    print(lines.map((line) => cut(visible(line), widestDiff)).join("\n"));
  }
  terminal.note(`mended ${files.length === 1 ? "1 file" : `${files.length} files`}`);
}

/**
 * Mends what can be mended, checks again, and so on. Returns the files that it changed, in order,
 * and what is left.
 */
export async function mendRegistry(
  project: Project,
): Promise<{ readonly files: readonly MendedFile[]; readonly left: readonly Finding[] }> {
  const mended = new Map<string, MendedFile>();
  const refused = new Set<string>();
  let left: readonly Finding[] = [];
  for (let round = 0; round < maxRounds; round += 1) {
    const { findings, textOf } = await checkRegistry(project);
    left = findings;
    const fixes = findings.flatMap(({ fix }) => (fix === undefined ? [] : [fix]));
    const open = apart(fixes.filter((fix) => !fix.some(({ file }) => refused.has(file))));
    if (open.length === 0) break;
    for (const file of new Set(open.flat().map((edit) => edit.file))) {
      const ofFile = open.filter((fix) => fix.some((edit) => edit.file === file));
      const before = textOf(file);
      const after =
        before === undefined ? undefined : rewritten(project.root, file, before, ofFile);
      if (before === undefined || after === undefined) refused.add(file);
      else mended.set(file, { file, before: mended.get(file)?.before ?? before, after });
    }
  }
  const files = [...mended.values()].toSorted((one, other) => (one.file < other.file ? -1 : 1));
  return { files, left };
}

/**
 * Writes a file with its fixes. Undefined where it was changed meanwhile, isn't UTF-8, or could not
 * be read afterwards.
 */
function rewritten(
  root: string,
  file: string,
  before: string,
  fixes: readonly Fix[],
): string | undefined {
  const entry = projectEntry(root, file);
  if (entry.kind !== "file" || !readFileSync(entry.real).equals(Buffer.from(before)))
    return undefined;
  // Together they may give a map the same key twice: then the first that can be read counts.
  const after = [fixes.flat(), ...fixes]
    .map((edits) => applyEdits(before, edits))
    .find((text) => text !== before && (isReadable(file, text) || !isReadable(file, before)));
  if (after !== undefined) writeWhole(entry.real, after);
  return after;
}

function isReadable(file: string, text: string): boolean {
  return parseYaml(file, text, () => undefined) !== undefined;
}
