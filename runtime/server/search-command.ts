// `node server.js search-rebuild [NAME]`: makes the indexes of searches anew, for rows that were there before them.
import { rebuildSearch } from "../families/search/rebuild.js";
import type { SearchSpec } from "../ports/search-spec.js";
import type { Connection } from "./connect.js";
import { progressBar } from "./progress-bar.js";

/** Rebuilds one index or all, with a bar each. Returns how many documents were indexed. */
export async function rebuildSearches(
  { database }: Connection,
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
