// Sorts as SQL reads them: those that go through references are columns of rows that are joined for them.
import { everything, type SortKey, type Via } from "../../query/ast.js";
import { idField, type FieldReference } from "../../query/fields.js";
import type { StoredDocument } from "../../ports/documents.js";
import { subjectOf } from "./document-rows.js";
import type { Parameters } from "./parameters.js";
import { quoted, readScalar, type Dialect, type SqlRow } from "./session.js";
import type { RelatedRows } from "../../query/related-rows.js";

/** Sorts over columns and fields of one row, once what they go through is joined. */
export interface SortedRows {
  readonly sorts: readonly SortKey[];
  /** What follows the table. */
  readonly joins: string;
  /** Columns that are joined, which no document has. */
  readonly columns: readonly string[];
  /** A document with the joined values of its row, by the place of their sort. */
  withJoined<Document extends StoredDocument>(document: Document, row: SqlRow): Document;
}

/** Reads the sorts of rows of a type. Each of several ways is joined once a sort. */
export function sortedRows(
  rows: RelatedRows,
  tenant: string,
  sorts: readonly SortKey[],
  dialect: Dialect,
  parameters: Parameters,
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
    const id = quoted(`${name}_id`);
    const from = subject.related({ rows: named, filter: everything, visible });
    const inner = `SELECT ${dialect.comparable(idField)} AS ${id}, ${dialect.comparable(field)} AS ${quoted(name)}${from}`;
    return ` LEFT JOIN (${inner}) AS ${quoted(`${name}_row`)} ON ${id} = ${dialect.comparable(member)}`;
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
