// Queries that authors write in SQL. Each runs as a table within a SELECT of ours, so that the
// author's text can't write.
import type { OwnQueryStore, QueryPiece } from "../../ports/own-queries.js";
import { whereOf } from "./document-rows.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, readScalar, type SqlSession } from "./session.js";

/** The store of authors' queries, within one transaction. */
export function sqlOwnQueries(session: SqlSession): OwnQueryStore {
  const { dialect } = session;
  return {
    async rows(pieces, columns, tenant, limit) {
      const parameters = new SqlParameters(dialect);
      const textOf = (piece: QueryPiece): string => {
        if ("text" in piece) return piece.text;
        if ("field" in piece) return dialect.comparable(piece.field);
        if ("value" in piece) return parameters.add(piece.value);
        const query = { filter: piece.filter, withDeleted: false };
        const where = whereOf(piece.of, tenant, query, dialect, parameters);
        return `(SELECT * FROM ${quoteName(piece.of.table)}${where})`;
      };
      const text = pieces.map(textOf).join("");
      const names = Object.keys(columns);
      const rows = await session.scan(
        `SELECT ${names.map(quoteName).join(", ")} FROM (${text}) AS q LIMIT ${parameters.add(limit)}`,
        parameters.values,
        { stored: [], computed: names },
      );
      return rows.map((row) =>
        Object.fromEntries(
          Object.entries(columns).map(([name, type]) => {
            const value = row[name] ?? null;
            return [name, value === null ? null : readScalar(type, value)];
          }),
        ),
      );
    },
  };
}
