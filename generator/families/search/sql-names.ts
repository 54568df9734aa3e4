// The names that the indexes of searches need in SQL.
import type { SqlClaim } from "../../kernel/family.js";
import type { SourceTree } from "../../load/source-tree.js";
import { indexName, indexSuffixes } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";

export function sqlClaims(
  { search: searches }: RegistryModel,
  tree: SourceTree,
): readonly SqlClaim[] {
  return Object.keys(searches).flatMap((search) =>
    ["", ...indexSuffixes].map((suffix) => ({
      name: `${indexName(search)}${suffix}`,
      what: `the search ${search}`,
      at: tree.keyAt("search", search),
      isTable: false,
    })),
  );
}
