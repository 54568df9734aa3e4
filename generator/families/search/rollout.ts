// What changes of searches take of a rollout: each version writes the index that it knows.
import {
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { own } from "../../model/records.js";
import { indexOfSearch } from "../../model/search-indexes.js";
import type { SearchModel } from "./model.js";

const search: RolloutRules<SearchModel> = {
  // An index belongs to texts and a language; that another one is made, or kept, is told of the
  // index.
  name: null,
  was: null,
  source: null,
  document: null,
  text: null,
  language: null,
  facets: null,
};

/** Searches by their indexes. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const indexesOf = ({ model, database }: RolloutSide): readonly string[] =>
    Object.values(model.search).map(({ name, document }) => {
      const table = own(model.documents, document)?.table ?? document;
      return indexOfSearch(own(database.tables, table), name);
    });
  const next = indexesOf(after);
  const there = Object.values(after.database.tables).flatMap(({ searches }) =>
    Object.keys(searches),
  );
  const left = indexesOf(before).filter((index) => !next.includes(index));
  return [
    ...needsOfAll([before.model.search, after.model.search], search, [before, after]),
    ...left.flatMap((index) =>
      there.includes(index)
        ? need(
            "safe to roll",
            `the version before keeps the search index ${index}; after a rollback, run search-rebuild: it knows nothing of what the next version has written`,
          )
        : need(
            "needs two releases",
            `the search index ${index} is dropped, which the version before still writes: first roll out what does not have it, then purge`,
          ),
    ),
  ];
}
