// Where the generated folder lies, given the URL of a module that was compiled from it.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder that holds `manifest.json`: beside the module, or named `generated` in a folder above it (compiled modules
 * lie in `dist/`, while migrations and documents stay in `generated/`). Throws where there is none.
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
