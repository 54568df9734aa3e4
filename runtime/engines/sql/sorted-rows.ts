// Sort keys as SQL: a key that goes through a reference becomes a column of a row that is joined
// for it.
import { everything, type SortKey, type Via } from "../../query/ast.js";
import { idField, type FieldReference } from "../../query/fields.js";
import type { StoredDocument } from "../../ports/documents.js";
import { subjectOf } from "./document-rows.js";
import type { SqlParameters } from "./parameters.js";
import type { Dialect } from "./dialect/dialect.js";
import { quoteName, readScalar, type SqlRow } from "./session.js";
import type { RelatedRows } from "../../query/related-rows.js";

/**
 * Sort keys over columns and fields of a single row, once the rows that they refer to are joined.
 */
export interface SortedRows {
  readonly sorts: readonly SortKey[];
  /** The joins, which follow the table in the statement. */
  readonly joins: string;
  /** The joined columns, to be selected besides those of the document. */
  readonly columns: readonly string[];
  /** Adds the joined values of a row to its document, by the index of their sort key. */
  withJoined<Document extends StoredDocument>(document: Document, row: SqlRow): Document;
}

/**
 * Resolves the sort keys of a query. Each key that goes through a reference gets a join of its own.
 */
export function sortedRows(
  rows: RelatedRows,
  tenant: string,
  sorts: readonly SortKey[],
  dialect: Dialect,
  parameters: SqlParameters,
): SortedRows {
  const joins: string[] = [];
  const joined: { readonly at: number; readonly column: FieldReference }[] = [];
  const subject = subjectOf(rows, tenant, dialect, parameters);
  const plain = sorts.map((key, at): SortKey => {
    if (key.via === undefined) return key;
    const { via, ...order } = key;
    const column = { path: `s${at}`, type: key.field.type, isColumn: true, isNullable: true };
    joins.push(joinOf(via, key.field, column.path));
    joined.push({ at, column });
    return { ...order, field: column };
  });

  function joinOf({ member, rows: named, visible }: Via, field: FieldReference, name: string) {
    const id = quoteName(`${name}_id`);
    const from = subject.related({ rows: named, filter: everything, visible });
    const inner = `SELECT ${dialect.comparable(idField)} AS ${id}, ${dialect.comparable(field)} AS ${quoteName(name)}${from}`;
    return ` LEFT JOIN (${inner}) AS ${quoteName(`${name}_row`)} ON ${id} = ${dialect.comparable(member)}`;
  }

  return {
    sorts: plain,
    joins: joins.join(""),
    columns: joined.map(({ column }) => column.path),
    withJoined(document, row) {
      if (joined.length === 0) return document;
      const values = joined.map(({ at, column }) => {
        const value = row[column.path] ?? null;
        return [at, value === null ? null : readScalar(column.type, value)] as const;
      });
      return { ...document, joined: Object.fromEntries(values) };
    },
  };
}
