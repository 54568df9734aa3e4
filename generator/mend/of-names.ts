// A misspelt name, where only one can be meant: it is replaced wherever the finding is.
import type { Finding, Fix } from "../diagnostics/diagnostics.js";
import type { WrittenFile } from "./written-file.js";
import { plainOrQuoted } from "./yaml-text.js";

export function mendName({ at, suggestion }: Finding, file: WrittenFile): Fix | undefined {
  if (typeof suggestion !== "object" || !suggestion.isOnly) return undefined;
  const { wrote, name } = suggestion;
  const isKey = at.isKey === true;
  const spans = file.scalarsOf(at.path, isKey, wrote);
  const [span] = spans;
  if (span !== undefined) {
    if (spans.length > 1) return undefined;
    const quote = /^["']/.exec(file.text.slice(...span))?.[0];
    const text = quote === undefined ? plainOrQuoted(name) : quote + name + quote;
    return [file.edit(...span, text)];
  }
  if (isKey) return undefined;
  // Rules point at the value as well where they mean its key.
  const edit = at.path.at(-1) === wrote ? file.renamed(at.path, plainOrQuoted(name)) : undefined;
  return edit === undefined ? partOf(file, at.path, wrote, name) : [edit];
}

/** The name within a longer text, such as `Taks[]` and `registry/tasks.ts#complet`. */
function partOf(
  file: WrittenFile,
  path: Finding["at"]["path"],
  wrote: string,
  name: string,
): Fix | undefined {
  const value = file.value(path);
  const source = file.source(path);
  if (typeof value !== "string" || source === undefined) return undefined;
  const pattern = new RegExp(`(?<![\\w$-])${escapePattern(wrote)}(?![\\w$-])`, "g");
  if ([...source.matchAll(pattern)].length !== 1 || source.includes("\n")) return undefined;
  const edit = file.replaced(
    path,
    source.replace(pattern, () => name),
  );
  return edit === undefined ? undefined : [edit];
}

function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}-]/g, String.raw`\$&`);
}
