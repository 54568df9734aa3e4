// Where a function is likely to be that a reference doesn't lead to.
import { posix } from "node:path";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import type { Advice } from "../diagnostics/diagnostics.js";
import type { Mention } from "../kernel/rule.js";
import type { ModuleFacts } from "../load/module-facts.js";
import { projectEntry, textOfFile } from "../load/project-file.js";
import { folderContent } from "../load/project-folder.js";
import { reservedWords } from "../model/reserved-words.js";

/**
 * The reference to a file that is there: from the folder of the registry's file, with another
 * ending, or spelt nearly so.
 */
export function fileAdvice(
  project: string,
  { reference: { file, name }, at }: Mention,
): Advice | undefined {
  const isFile = (path: string): boolean =>
    !path.startsWith("..") && projectEntry(project, path).kind === "file";
  const around = [file, posix.join(posix.dirname(at.file), file), posix.join("registry", file)];
  const typed = around.map((path) => path.replace(/\.([cm]?)js$/, ".$1ts"));
  const near = around.flatMap((path) => {
    const folder = posix.dirname(path);
    const found = didYouMean(posix.basename(path), filesIn(project, folder))?.name;
    return found === undefined ? [] : [posix.join(folder, found)];
  });
  const found = [...around, ...typed, ...near].map((path) => posix.normalize(path)).find(isFile);
  return found === undefined ? undefined : { suggestion: `${found}#${name}` };
}

function filesIn(project: string, folder: string): readonly string[] {
  if (folder.startsWith("..") || folder === "." || folder.startsWith("/")) return [];
  const { files } = folderContent(project, folder);
  return files
    .filter((path) => posix.dirname(path) === folder && /\.[cm]?[jt]s$/.test(path))
    .map((path) => posix.basename(path));
}

/** The export that is likely meant, or why the module has none of that name. */
export function exportAdvice(
  project: string,
  { reference: { file, name } }: Mention,
  facts: ModuleFacts,
): Advice | undefined {
  const names = facts.exports.map((exported) => exported.name);
  if (reservedWords.has(name))
    return {
      hint: `No function can be declared as \`${name}\`, a word of JavaScript: choose another name.`,
    };
  const nearest = didYouMean(name, names);
  if (nearest !== undefined) {
    const reference = { wrote: `${file}#${name}`, name: `${file}#${nearest.name}` };
    return { suggestion: { ...nearest, ...reference } };
  }
  const text = textOfFile(project, file) ?? "";
  const plain = name.replaceAll("$", "_");
  const declared = new RegExp(String.raw`\b(?:const|let|var|function|class)\s+${plain}\b`);
  if (declared.test(text.replaceAll("$", "_")) || /\bexport\s+default\b/.test(text))
    return { hint: `Export it by its name: \`export const ${name} = …\`.` };
  return names.length === 0
    ? undefined
    : { hint: `Name one of its exports, ${names.slice(0, 8).join(", ")}, or write \`${name}\`.` };
}
