// Where the generated folder is, given the URL of a module that was compiled from it.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder that has `manifest.json`: that of the module, or one named `generated` in a folder
 * above it (compiled modules are in `dist/`, while migrations and documents stay in `generated/`).
 * Throws if there is none.
 */
export function generatedFolder(moduleUrl: string): string {
  const start = dirname(fileURLToPath(moduleUrl));
  if (existsSync(join(start, "manifest.json"))) return start;
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    const candidate = join(folder, "generated");
    if (existsSync(join(candidate, "manifest.json"))) return candidate;
  }
  throw new Error(`no generated folder with a manifest.json above ${start}`);
}
