// `node server.js search-rebuild [NAME]`: rebuilds the indexes of searches, for rows that are older
// than their index.
import type { ServiceCommand, ServiceAtWork } from "../../operations/family.js";
import { progressBar } from "../../work/progress-bar.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { rebuildSearch } from "./rebuild.js";

/** Rebuilds one index or all, and prints how many documents were indexed. */
export function rebuildCommand(searches: readonly SearchSpec[]): ServiceCommand {
  return {
    name: "search-rebuild",
    usage: "[NAME]",
    read(args) {
      const chosen = searches.filter((spec) => args.length === 0 || args[0] === spec.name);
      if (args.length > 1 || chosen.length === 0) return null;
      return async (service) => String(await rebuildSearches(service, chosen));
    },
  };
}

/**
 * Rebuilds the indexes one after the other, each with a progress bar. Returns how many documents
 * were indexed.
 */
async function rebuildSearches(
  { database }: ServiceAtWork,
  searches: readonly SearchSpec[],
): Promise<number> {
  let total = 0;
  for (const spec of searches) {
    const bar = progressBar(spec.name);
    total += await rebuildSearch(database, spec, {
      onProgress: bar.show,
      onWaiting: () => process.stderr.write(`${spec.name}: another process rebuilds it; waiting\n`),
    });
    bar.finish();
  }
  return total;
}
