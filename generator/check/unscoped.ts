// Lists where the author's code reaches documents beyond their scopes (decisions.md "Scopes").
import { posix } from "node:path";
import type { Report } from "../diagnostics.js";
import { folderContent } from "../load/project-folder.js";
import { readProjectText } from "../load/project-file.js";

const isModule = /\.[cm]?[jt]sx?$/;
const comments = /\/\*[^]*?\*\/|\/\/[^\n]*/g;
const relative = /\bfrom\s*["'](\.{1,2}\/[^"']+)["']|\bimport\s*\(\s*["'](\.{1,2}\/[^"']+)["']/g;
/** A name in a list of imports that keeps its name is no use by itself. */
const imported = /import\s*(?:type\s*)?\{[^}]*\}/g;

/**
 * Reports every mention of `unscoped` in the modules below the registry's folder, and in those that they import: reviewers have
 * to see it, whoever wrote it and under whatever name it is called.
 */
export function unscopedIsListed(project: string, folder: string, report: Report): void {
  const waiting = folderContent(project, folder).files.filter((file) => isModule.test(file));
  const seen = new Set(waiting);
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const read = readProjectText(project, file);
    if (read.kind !== "text") continue;
    const further = importsOf(file, read.text).filter((next) => !seen.has(next));
    for (const next of further) seen.add(next);
    waiting.push(...further);
    if (!/\bunscoped\b/.test(read.text)) continue;
    const code = blank(read.text, comments);
    const uses = blank(code, imported, (list) => !/\bunscoped\s+as\b/.test(list));
    for (const { index } of uses.matchAll(/\bunscoped\b/g)) {
      const [, spec = "…"] = /^unscoped\s*\(\s*([\w$.]+)/.exec(uses.slice(index)) ?? [];
      report({
        code: "OPW096",
        message: `unscoped(${spec}) reaches every document of the tenant, whoever calls`,
        at: { file, path: [], offset: index },
      });
    }
  }
}

/** The text with what matches in blanks, so that places stay. */
function blank(text: string, pattern: RegExp, isBlank = (_match: string) => true): string {
  return text.replace(pattern, (match) => (isBlank(match) ? match.replace(/[^\n]/g, " ") : match));
}

/** Files of the project that a module may import; those that are not there are read as nothing. */
function importsOf(file: string, text: string): readonly string[] {
  return [...text.matchAll(relative)].flatMap(([, still, dynamic]) => {
    const path = posix.join(posix.dirname(file), still ?? dynamic ?? "");
    if (path.startsWith("..") || /(?:^|\/)(?:generated|node_modules)\//.test(path)) return [];
    return isModule.test(path)
      ? [path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2"), path]
      : [`${path}.ts`];
  });
}
