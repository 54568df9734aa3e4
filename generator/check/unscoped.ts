// Lists where the author's code reaches documents beyond their scopes (decisions.md "Scopes").
import { folderContent } from "../load/project-folder.js";
import { readProjectText } from "../load/project-file.js";
import type { Report } from "../diagnostics.js";

const use = /\bunscoped\s*\(\s*([\w$.]*)/g;

/** Reports every call of `unscoped` below the registry's folder: reviewers have to see it, whoever wrote it. */
export function unscopedIsListed(project: string, folder: string, report: Report): void {
  for (const file of folderContent(project, folder).files) {
    if (!/\.[cm]?tsx?$/.test(file)) continue;
    const read = readProjectText(project, file);
    if (read.kind !== "text" || !/\bunscoped\b/.test(read.text)) continue;
    for (const { index, 1: spec = "" } of read.text.matchAll(use))
      report({
        code: "OPW096",
        message: `unscoped(${spec}) reaches every document of the tenant, whoever calls`,
        at: { file, path: [], offset: index },
      });
  }
}
