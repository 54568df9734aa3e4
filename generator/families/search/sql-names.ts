// The names that the indexes of searches need in SQL.
import type { SqlClaim } from "../../kernel/family.js";
import type { SourceTree } from "../../load/source-tree.js";
import { indexName } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";

/** What an index of a search is made of, with the tables that FTS5 keeps for itself. */
const suffixes = [
  "",
  "_by_texts",
  "_words",
  "_words_by_word",
  "_words_by_trigrams",
  "_data",
  "_idx",
  "_content",
  "_docsize",
  "_config",
];

export function sqlClaims({ searches }: RegistryModel, tree: SourceTree): readonly SqlClaim[] {
  return Object.keys(searches).flatMap((search) =>
    suffixes.map((suffix) => ({
      name: `${indexName(search)}${suffix}`,
      what: `the search ${search}`,
      at: tree.keyAt("search", search),
      isTable: false,
    })),
  );
}
