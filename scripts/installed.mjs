// What the lock file asks for and node_modules has, by npm's own record of it.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Packages that are not installed as the lock file says. `isNeeded` chooses among its entries. Optional ones may be missing:
 * most of them are for other systems.
 */
export function missingPackages(root, isNeeded) {
  const installed = packagesOf(join(root, "node_modules/.package-lock.json"));
  return Object.entries(packagesOf(join(root, "package-lock.json")))
    .filter(([path, entry]) => path.startsWith("node_modules/") && !entry.link && !entry.optional)
    .filter(([path, entry]) => isNeeded(entry) && installed[path]?.version !== entry.version)
    .map(([path]) => path);
}

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return {};
  }
}
