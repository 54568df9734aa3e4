// Search over SQL, shared by all SQL engines: the dialect's index, joined with the documents.
import { elementOf } from "../../query/fields.js";
import type { ScoredDocument, SearchQuery, SearchStore } from "../../ports/search.js";
import type { SearchSpec } from "../../ports/search-spec.js";
import { documentColumns, readStored, whereOf } from "./document-rows.js";
import { afterCondition, orderBy } from "./order.js";
import { SqlParameters } from "./parameters.js";
import { wordsLike, wordsWithin } from "./indexed-words.js";
import { rebuildSize, rebuildStep } from "./search-rebuild.js";
import type { Dialect } from "./dialect/dialect.js";
import { quoteName, readScalar, type SqlRow, type SqlSession } from "./session.js";
import { sortedRows } from "./sorted-rows.js";

/**
 * The query for the documents that match, with their scores; only the best `maxCandidates`, if that
 * is given.
 */
function matches(
  dialect: Dialect,
  spec: SearchSpec,
  tenant: string,
  query: SearchQuery,
  parameters: SqlParameters,
): string {
  const { document } = spec;
  const { match, weights, maxCandidates } = query;
  const from =
    match === null
      ? quoteName(document.table)
      : dialect.matching(spec, tenant, match, weights, parameters);
  const where = whereOf(document, tenant, query, dialect, parameters);
  const score = match === null ? "0" : `s."score"`;
  const all = `SELECT ${dialect.columns}, ${score} AS "score" FROM ${from}${where}`;
  if (maxCandidates === null) return all;
  return `${all} ORDER BY "score" DESC, "id" LIMIT ${parameters.add(maxCandidates)}`;
}

/** The search store of one transaction. */
export function sqlSearchStore(session: SqlSession): SearchStore {
  const { dialect } = session;

  return {
    async select(spec, tenant, query, window) {
      const parameters = new SqlParameters(dialect);
      const inner = matches(dialect, spec, tenant, query, parameters);
      const { sorts, joins, columns, withJoined } = sortedRows(
        spec.document,
        tenant,
        query.sorts,
        dialect,
        parameters,
      );
      const after =
        window.after === undefined
          ? ""
          : ` WHERE ${afterCondition(sorts, window.after, dialect, parameters)}`;
      const limit = `LIMIT ${parameters.add(window.limit)} OFFSET ${parameters.add(window.offset)}`;
      const rows = await session.scan(
        `SELECT ${[dialect.columns, `"score"`, ...columns.map(quoteName)].join(", ")} ` +
          `FROM (${inner}) AS m${joins}${after} ${orderBy(sorts, dialect)} ${limit}`,
        parameters.values,
        { ...documentColumns, computed: ["score", ...columns] },
      );
      return rows.map((row) => withJoined(readScored(spec, row), row));
    },

    async count(spec, tenant, query) {
      const parameters = new SqlParameters(dialect);
      const inner = matches(dialect, spec, tenant, query, parameters);
      const [row] = await session.scan(
        `SELECT count(*) AS "count" FROM (${inner}) AS m`,
        parameters.values,
        { stored: ["count"] },
      );
      return Number(row?.["count"] ?? 0);
    },

    async facet(spec, tenant, query, field, size) {
      const parameters = new SqlParameters(dialect);
      const inner = matches(dialect, spec, tenant, query, parameters);
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

function readScored({ document }: SearchSpec, row: SqlRow): ScoredDocument {
  return { ...readStored(document, row), score: Number(row["score"]) };
}
