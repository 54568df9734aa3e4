// Reads documents of several types by their ids, with one statement.
import type { NamedDocuments, StoredDocument } from "../../ports/documents.js";
import { allOf, type Filter } from "../../query/ast.js";
import { idField } from "../../query/fields.js";
import { documentColumns, readStored, whereOf } from "./document-rows.js";
import { SqlParameters } from "./parameters.js";
import { quoteName, type SqlSession } from "./session.js";

/**
 * The documents that each item of `asked` finds, in the same order. Once bodies exceed `maxBytes`,
 * further rows are left out.
 */
export async function namedRows(
  session: SqlSession,
  asked: readonly NamedDocuments[],
  tenant: string,
  maxBytes: number,
): Promise<readonly (readonly StoredDocument[])[]> {
  if (asked.length === 0) return [];
  const { dialect } = session;
  const parameters = new SqlParameters(dialect);
  const parts = asked.map(({ spec, ids, filter }, at) => {
    const byId: Filter = { kind: "in", field: idField, isNegated: false, values: ids };
    const query = { filter: allOf(byId, filter), withDeleted: false };
    return `SELECT ${at} AS "part", ${dialect.columns} FROM ${quoteName(spec.table)}${whereOf(spec, tenant, query, dialect, parameters)}`;
  });
  // The size of the bodies before a row: the row that exceeds the limit is still returned, so that
  // callers notice.
  const before = `sum(${dialect.bodyBytes}) OVER (ORDER BY "part", "id" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  const counted = `SELECT *, ${before} AS "before" FROM (${parts.join(" UNION ALL ")}) AS n`;
  const rows = await session.scan(
    `SELECT "part", ${dialect.columns} FROM (${counted}) AS c WHERE "before" IS NULL OR "before" <= ${parameters.add(maxBytes)}`,
    parameters.values,
    { ...documentColumns, computed: ["part"] },
  );
  return asked.map(({ spec }, at) =>
    rows.filter((row) => Number(row["part"]) === at).map((row) => readStored(spec, row)),
  );
}
