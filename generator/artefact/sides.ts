// Whose a module is: the project's, opwright's or a package's.
import { join } from "node:path";
import type { Package, PackageReader } from "./packages.js";

/** Whose a module is. A package is named by what it is; a helper of the bundler is `bundler`. */
export type Side = "project" | "opwright" | "bundler" | Package;

/** Beginnings of the ids of modules that no file has. */
export const placePrefix = "\0opwright:place:";
/** Whose import it is stands behind it, then a colon and what is asked for. */
export const externalPrefix = "\0opwright:external:";

/** Where a project is compiled to be bundled, below its folder. */
export const compiledFolder = "node_modules/.opwright";

export interface Sides {
  readonly opwright: Package;
  of(id: string): Side;
  isPackage(id: string): boolean;
}

/** Undefined if opwright isn't installed in the project. */
export function openSides(root: string, reader: PackageReader): Sides | undefined {
  const project = reader.ofFile(join(root, "package.json"));
  // In its own repository, opwright is the project as well.
  const opwright = project?.name === "opwright" ? project : reader.find("opwright", root);
  if (opwright === undefined) return undefined;
  const runtime = join(opwright.folder, "dist");
  const ours = [join(runtime, "served/"), join(runtime, "runtime/")];
  const compiled = join(root, compiledFolder, "/");
  const of = (id: string): Side => {
    if (id.startsWith(placePrefix) || id.startsWith(`${externalPrefix}project:`)) return "project";
    if (id.startsWith(`${externalPrefix}opwright:`)) return "opwright";
    if (id.startsWith("\0")) return "bundler";
    if (ours.some((folder) => id.startsWith(folder))) return "opwright";
    if (id.startsWith(compiled)) return "project";
    // Also where the project's own package.json has no name, and one above it has.
    const owner =
      id.includes("/node_modules/") || !id.startsWith(`${root}/`) ? reader.ofFile(id) : undefined;
    if (owner === undefined || owner.folder === project?.folder || owner.folder === root)
      return "project";
    return owner;
  };
  return { opwright, of, isPackage: (id) => typeof of(id) === "object" || of(id) === "bundler" };
}
