// Search over SQL, shared by all SQL engines: the dialect's index, joined with the documents.
import { elementOf } from "../../query/fields.js";
import type { SearchStore } from "../../ports/search.js";
import { SqlParameters } from "./parameters.js";
import { wordsLike, wordsWithin } from "./indexed-words.js";
import { readCountedPage, selectListed } from "./listing.js";
import { rebuildSize, rebuildStep } from "./search-rebuild.js";
import { countMatches, printMatches, printMatchListing } from "./search-listing.js";
import { readScalar, type SqlSession } from "./session.js";

/** The search store of one transaction. */
export function sqlSearchStore(session: SqlSession): SearchStore {
  const { dialect } = session;

  return {
    select: (spec, tenant, query, window) =>
      selectListed(printMatchListing(session, spec, tenant, query, window.after), window),

    countedPage: (spec, tenant, query, window) =>
      readCountedPage(printMatchListing(session, spec, tenant, query), window),

    count: (spec, tenant, query) => countMatches(session, spec, tenant, query),

    async facet(spec, tenant, query, field, size) {
      const parameters = new SqlParameters(dialect);
      const inner = printMatches(dialect, spec, tenant, query, parameters);
      const isArray = field.type.endsWith("[]");
      const of = isArray ? elementOf(field) : field;
      const from = isArray ? `(${inner}) AS m, ${dialect.elements(field)}` : `(${inner}) AS m`;
      const value = dialect.comparable(of);
      // A document counts once for each different value of its array.
      const count = isArray ? `count(DISTINCT m."id")` : "count(*)";
      const rows = await session.scan(
        `SELECT ${value} AS "value", ${count} AS "count" FROM ${from} ` +
          `WHERE ${value} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${parameters.add(size)}`,
        parameters.values,
        { stored: ["count"], computed: ["value"] },
      );
      return rows.map((row) => ({
        value: readScalar(of.type, row["value"]),
        count: Number(row["count"]),
      }));
    },

    wordsLike: (spec, tenant, word, edits) => wordsLike(session, spec, tenant, word, edits),
    wordsWithin: (spec, tenant, query, words) => wordsWithin(session, spec, tenant, query, words),
    rebuildSize: (spec) => rebuildSize(session, spec),
    rebuildStep: (spec, from, limit) => rebuildStep(session, spec, from, limit),
  };
}
