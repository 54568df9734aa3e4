// What is wrong with a file as a whole: its version, keys that stand twice, and references to
// functions in other files.
import { posix } from "node:path";
import type { Finding, Fix, TextEdit } from "../diagnostics/diagnostics.js";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import { functionReference } from "../model/code.js";
import { isMap } from "../load/shape.js";
import { mendName } from "./of-names.js";
import type { WrittenFile } from "./written-file.js";

/** `registry: 1` on top, below comments that stand there. */
export function mendVersion({ at }: Finding, file: WrittenFile): Fix | undefined {
  const value = file.value(["registry"]);
  if (at.path.length > 0)
    return /^[vV]?1(?:\.0){0,2}$/.test(String(value))
      ? single(file.replaced(["registry"], "1"))
      : undefined;
  const sections = file.value([]);
  const keys = isMap(sections) ? Object.keys(sections) : [];
  const misspelt = keys.find((key) => didYouMean(key, ["registry"])?.isOnly === true);
  if (misspelt !== undefined) return single(file.renamed([misspelt], "registry"));
  const [first] = keys;
  const start = first === undefined ? undefined : file.keyStart([first]);
  return start === undefined
    ? undefined
    : [file.edit(start, start, `registry: 1${file.lineBreak}`)];
}

/** A member that stands twice and says the same both times. */
export function mendRepeated({ at }: Finding, file: WrittenFile): Fix | undefined {
  return at.offset === undefined ? undefined : single(file.repeatedAt(at.offset));
}

/** A reference to a file, or an export, that is there under a slightly other name. */
export function mendReference(
  finding: Finding,
  file: WrittenFile,
  { folder, exists }: { readonly folder: string; readonly exists: (path: string) => boolean },
): Fix | undefined {
  const byName = mendName(finding, file);
  const text = file.value(finding.at.path);
  if (byName !== undefined || typeof text !== "string" || !text.includes("#")) return byName;
  const { file: named, name } = functionReference(text);
  if (exists(named)) return undefined;
  const bare = named.replace(/^\/+/, "");
  const places = [bare, posix.join(folder, bare), posix.join(posix.dirname(file.file), bare)];
  const [only, ...others] = new Set(
    places
      .flatMap((path) => [path, path.replace(/\.(m?)js$/, ".$1ts")])
      .map((path) => posix.normalize(path))
      .filter((path) => path !== named && !path.startsWith("../") && exists(path)),
  );
  if (only === undefined || others.length > 0) return undefined;
  return single(file.replaced(finding.at.path, `${only}#${name}`));
}

function single(edit: TextEdit | undefined): Fix | undefined {
  return edit === undefined ? undefined : [edit];
}
