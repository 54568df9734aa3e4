// Whole data models of known products, as folders of registries beside their acceptance tests.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The files of a model by their paths in a project, as `onEachEngine` takes them. */
export function modelFiles(name: string): Record<string, string> {
  const folder = join(import.meta.dirname, name, "registry");
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [join("registry", path.slice(folder.length)), readFileSync(path, "utf8")]),
  );
}
