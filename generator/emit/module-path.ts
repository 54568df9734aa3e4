// How emitted modules import the author's files.
import { posix } from "node:path";
import type { FunctionReference } from "../model/registry.js";
import { camelCase } from "../model/names.js";

/** Import paths from a file in the generated folder to files of the project. */
export interface ModulePaths {
  /** The generated folder, relative to the project. */
  readonly out: string;
  /** The registry folder, relative to the project. */
  readonly registry: string;
}

/** `registry/handlers/tasks.ts` as seen from `generated/routes/tasks.ts`: `../../registry/handlers/tasks.js`. */
export function importPath(paths: ModulePaths, from: string, file: string): string {
  const relative = posix
    .relative(posix.join(paths.out, posix.dirname(from)), file)
    .replace(/\.(m?)ts$/, ".$1js");
  return relative.startsWith(".") ? relative : `./${relative}`;
}

/** The name under which an emitted module imports a file: `registry/handlers/tasks.ts` → `handlersTasks`. */
export function moduleName(paths: ModulePaths, reference: FunctionReference): string {
  const relative = reference.file.startsWith(`${paths.registry}/`)
    ? reference.file.slice(paths.registry.length + 1)
    : reference.file;
  return camelCase(relative.replace(/\.(?:m?[jt]s)$/, ""));
}
