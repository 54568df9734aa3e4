// Rows of documents and other tables: which they are, how large, and how many.
import type { AnyDocumentSpec } from "../../../ports/document-spec.js";

/** A column of the key that identifies a row. */
export interface RowKey {
  readonly column: string;
  /** The SQL type of its values. */
  readonly type: "integer" | "text" | "uuid";
}

export interface RowDialect {
  /** The columns to select for a document, as `readStored` reads them. */
  readonly columns: string;
  /** The column by which search indexes refer to the row of a document. */
  readonly rowKey: string;
  /**
   * The columns that identify the rows of documents and of their indexes, and by which both are
   * ordered.
   */
  rowKeys(spec: AnyDocumentSpec): readonly RowKey[];
  /**
   * The condition that a row is among those that a query selects: `from` is all that follows FROM,
   * with order and limit, and `name` is the alias of the rows there. It compares addresses (rowid,
   * ctid), so a batch costs only as much as its rows.
   */
  isRowOf(name: string, from: string): string;
  /**
   * The condition that the row `r` of a table belongs to a record `w`; `isRow` prints the
   * comparison of their keys for the alias of a row. SQLite looks each record up by its key,
   * whatever its planner expects of the table.
   */
  isRecorded(table: string, isRow: (row: string) => string): string;
  /**
   * An insert and one that follows it, as one statement; null where the engine takes one at a time.
   */
  readonly insertBoth: ((first: string, then: string) => string) | null;
  /** The expression of the size of a body in bytes. */
  readonly bodyBytes: string;
  /** A query that estimates how many rows a table has, as column `rows`. */
  tableRows(table: string): string;
}
