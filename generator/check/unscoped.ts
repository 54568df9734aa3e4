// Lists where the author's code reaches documents beyond their scopes (decisions.md "Scopes").
import { posix } from "node:path";
import type { Report } from "../diagnostics/diagnostics.js";
import { folderContent } from "../load/project-folder.js";
import { readProjectText } from "../load/project-file.js";

const isModule = /\.[cm]?[jt]sx?$/;
const relative = /\bfrom\s*["'](\.{1,2}\/[^"']+)["']|\bimport\s*\(\s*["'](\.{1,2}\/[^"']+)["']/g;

/**
 * Reports every use of `unscoped` in the modules below the registry's folder, and in those that
 * they import: reviewers have to see it, whoever wrote it and under whatever name it is called.
 */
export async function unscopedIsListed(
  project: string,
  folder: string,
  report: Report,
): Promise<void> {
  const waiting = folderContent(project, folder).files.filter((file) => isModule.test(file));
  const seen = new Set(waiting);
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const read = readProjectText(project, file);
    if (read.kind !== "text") continue;
    const further = importsOf(file, read.text).filter((next) => !seen.has(next));
    for (const next of further) seen.add(next);
    waiting.push(...further);
    if (!/\bunscoped\b/.test(read.text)) continue;
    // Reading syntax takes a compiler, which few projects need here.
    const { unscopedUses } = await import("../load/unscoped-uses.js");
    for (const { spec, offset } of unscopedUses(file, read.text))
      report({
        code: "OPW096",
        message: `unscoped(${spec ?? "…"}) reaches every document of the tenant, whoever calls`,
        at: { file, path: [], offset },
      });
  }
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
