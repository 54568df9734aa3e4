// `node server.js search-rebuild [NAME]`: makes the indexes of searches anew, for rows that were there before them.
import type { SearchSpec } from "../search/spec.js";
import type { Connection } from "./connect.js";
import { progressBar } from "./progress-bar.js";

/** Rebuilds one index or all, each in a transaction, with a bar each. Returns how many documents were indexed. */
export async function rebuildSearches(
  { write }: Connection,
  searches: readonly SearchSpec[],
): Promise<number> {
  let total = 0;
  for (const spec of searches) {
    const bar = progressBar(spec.name);
    total += await write("search.rebuild", ({ transaction }) =>
      transaction.search.rebuild(spec, bar.show),
    );
    bar.finish();
  }
  return total;
}
