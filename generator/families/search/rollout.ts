// What changes of searches take of a rollout: each version writes the index that it knows.
import {
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { storedOf } from "../../database/schema.js";
import type { SearchModel } from "../../model/registry.js";

const search: RolloutRules<SearchModel> = {
  // An index belongs to texts and a language; that another one is made, or kept, is told of the index.
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
  const indexes = storedOf(before.model, before.database).searches;
  const next = Object.values(storedOf(after.model, after.database).searches);
  const there = Object.values(after.database.tables).flatMap(({ searches }) =>
    Object.keys(searches),
  );
  const left = Object.values(indexes).filter((index) => !next.includes(index));
  return [
    ...needsOfAll([before.model.searches, after.model.searches], search, [before, after]),
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
