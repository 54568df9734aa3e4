// `node server.js search-rebuild [NAME]`: makes the indexes of searches anew, for rows that were there before them.
import type { SearchSpec } from "../search/spec.js";
import type { Connection } from "./connect.js";

/** Rebuilds one index or all, each in a transaction, and says what it does. Returns how many documents were indexed. */
export async function rebuildSearches(
  { write }: Connection,
  searches: readonly SearchSpec[],
  say: (line: string) => void,
): Promise<number> {
  let total = 0;
  for (const spec of searches) {
    say(`${spec.name} …`);
    const count = await write("search.rebuild", ({ transaction }) =>
      transaction.search.rebuild(spec),
    );
    say(`${spec.name}: ${count} documents`);
    total += count;
  }
  return total;
}
