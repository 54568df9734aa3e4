// How emitted modules import the author's files.
import { posix } from "node:path";
import { camelCase, pascalCase } from "../model/names.js";

/** Import paths from a file in the generated folder to files of the project. */
export interface ModulePaths {
  /** The generated folder, relative to the project. */
  readonly out: string;
  /** The registry folder, relative to the project. */
  readonly registry: string;
}

/**
 * `registry/handlers/tasks.ts` as seen from `generated/routes/tasks.ts`:
 * `../../registry/handlers/tasks.js`.
 */
export function importPath(paths: ModulePaths, from: string, file: string): string {
  const relative = posix
    .relative(posix.join(paths.out, posix.dirname(from)), file)
    .replace(/\.(m?)ts$/, ".$1js");
  return relative.startsWith(".") ? relative : `./${relative}`;
}

/**
 * The names under which an emitted module imports the author's files: `registry/handlers/tasks.ts`
 * → `handlersTasks`. A name that is taken gets a number; the same files give the same names.
 */
export function moduleNames(
  paths: ModulePaths,
  files: Iterable<string>,
  isTaken: (name: string) => boolean,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const file of [...new Set(files)].sort()) {
    const inRegistry = file.startsWith(`${paths.registry}/`);
    const path = inRegistry ? file.slice(paths.registry.length + 1) : file;
    const usual = camelCase(path.replace(/\.(?:m?[jt]s)$/, ""));
    // One word could be reserved, or a name of the runtime; two words in camel case are neither.
    const base = /^[a-z]+$|^\d/.test(usual) ? `author${pascalCase(usual)}` : usual;
    const used = new Set(names.values());
    let name = base;
    for (let number = 2; used.has(name) || isTaken(name); number += 1) name = `${base}${number}`;
    names.set(file, name);
  }
  return names;
}
