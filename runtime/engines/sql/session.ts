// What the shared SQL stores need from an engine: statements with positional parameters, and its
// dialect.
import { fail, type ServiceError } from "../../contract/errors.js";
import type { AnyDocumentSpec, SearchIndex } from "../../ports/document-spec.js";
import type { Pattern } from "../../query/pattern.js";
import type { FieldType } from "../../contract/fields.js";
import type { AggregateFunction, TruncUnit } from "../../query/aggregate.js";
import type { FieldReference } from "../../query/fields.js";
import type { Match } from "../../query/match.js";
import type { IndexedDocument } from "../../ports/indexed-document.js";
import type { SearchSpec } from "../../ports/search-spec.js";

export type SqlValue = string | number | boolean | null | readonly SqlValue[];
export type SqlRow = Readonly<Record<string, unknown>>;

/** Aggregate functions that each engine computes in its own way. */
export type Statistic = Exclude<AggregateFunction, "$count" | "$count_distinct" | "$min" | "$max">;

/** Collects parameters while SQL is printed: `add` returns the placeholder of a value. */
export interface ParameterSink {
  add(value: SqlValue): string;
}

/** Types of the members of records. A `json` value is given as JSON text. */
export type RecordType = "integer" | "text" | "uuid" | "boolean" | "timestamp" | "json";

/** The SQL that engines print differently. */
export interface Dialect {
  /** The placeholder of the parameter at a position, counted from 1. */
  placeholder(position: number): string;
  /**
   * The expression of a declared field. The field's indexes have the same text, so that they serve
   * it.
   */
  field(field: FieldReference): string;
  /** The placeholder, converted so that it compares correctly with the field. */
  operand(field: FieldReference, placeholder: string): string;
  /** The value to bind for an operand that is compared with the field. */
  bind(field: FieldReference, value: SqlValue): SqlValue;
  /**
   * The expression of a field in a form in which columns and body fields can be compared with each
   * other.
   */
  comparable(field: FieldReference): string;
  /** The id of the row with this alias, in the form in which body fields refer to it. */
  idText(row: string): string;
  /** The condition that the field is absent or null; if `isNull` is false, that it is neither. */
  isNull(field: FieldReference, isNull: boolean): string;
  /** The condition that the field is an array. */
  isArray(field: FieldReference): string;
  /** The number of elements of a field that is an array. */
  arrayLength(field: FieldReference): string;
  /**
   * The elements of an array as rows `e`, for `FROM`. Check `isArray` too: on SQLite, other values
   * give rows too.
   */
  elements(field: FieldReference): string;
  /** The parameter of `matches` for a pattern, in the engine's own pattern language. */
  pattern(pattern: Pattern): string;
  /** The condition that the field's text matches the pattern in the placeholder. */
  matches(field: FieldReference, placeholder: string): string;
  /** The condition that the field's value is in the list in the placeholder. */
  isIn(field: FieldReference, placeholder: string): string;
  /** A list of operands as one parameter value. */
  list(values: readonly SqlValue[]): SqlValue;
  /** The list in the placeholder as rows, for `FROM`, and the expression of a row's value. */
  listRows(element: FieldReference, placeholder: string): readonly [string, string];
  /**
   * Records as rows `w` with these members as columns, for `FROM`. The parameter is the text from
   * `recordsText`.
   */
  records(members: Readonly<Record<string, RecordType>>, placeholder: string): string;
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
  /** A placeholder that a SELECT returns as a value, with the type of that value. */
  typed(type: RecordType, placeholder: string): string;
  /** The expression of the size of a body in bytes. */
  readonly bodyBytes: string;
  /** A query that estimates how many rows a table has, as column `rows`. */
  tableRows(table: string): string;
  /** A placeholder with JSON text, converted to the type of a body. */
  json(placeholder: string): string;
  /**
   * Whether `zone` needs the first and the last time that it is used for; otherwise they are "".
   */
  readonly zonesNeedRange: boolean;
  /**
   * A query of the time zones that the engine knows, as `name`; null if it has those of Node.js.
   */
  readonly zoneNames: string | null;
  /** The parameter of `truncated` that stands for a time zone, by a name that the engine knows. */
  zone(timezone: string, first: string, last: string): string;
  /**
   * The expression of the local start of the period that a time falls into: `2026-03-01T00:00:00`.
   */
  truncated(text: string, unit: TruncUnit, type: FieldType, zone: string): string;
  /**
   * A statistic of a group: `inner` is the expression in the query that groups, `outer` the one in
   * the query around it, which computes the result from the inner column.
   */
  statistic(
    name: Statistic,
    value: string,
    condition: string | null,
    fraction: number,
  ): { readonly inner: string; readonly outer: (column: string) => string };
  /**
   * What follows FROM to select documents that match words: their rows, joined with index rows `s`,
   * which have the score.
   */
  matching(
    spec: SearchSpec,
    tenant: string,
    match: Match,
    weights: Readonly<Record<string, number>>,
    parameters: ParameterSink,
  ): string;
  /**
   * A query that finds a row if words can be compared by trigrams (pg_trgm); null if the engine has
   * no trigrams.
   */
  readonly trigrams: string | null;
  /**
   * A query for words of an index (column `word`) that may be other spellings of one: they have at
   * least `letters[0]` and at most `letters[1]` letters, and either begin with the same letter or
   * are similar by trigrams.
   */
  wordsLike(
    spec: SearchSpec,
    tenant: string,
    word: string,
    letters: readonly [number, number],
    parameters: ParameterSink,
    hasTrigrams: boolean,
  ): string;
  /**
   * What follows FROM to select documents that have the word of the expression, in any field of the
   * search.
   */
  havingWord(spec: SearchSpec, tenant: string, word: string, parameters: ParameterSink): string;
  /** Statements that put a document into an index. */
  indexPut(spec: AnyDocumentSpec, search: SearchIndex): readonly IndexStatement<IndexedDocument>[];
  /**
   * Statements that put many documents into an index at once, and leave those alone that the index
   * already has as they are.
   */
  indexPutMany(
    spec: AnyDocumentSpec,
    search: SearchIndex,
  ): readonly IndexStatement<readonly IndexedDocument[]>[];
  /**
   * The condition that some row of an index has the word of the row `words`, an alias of the
   * index's table of words.
   */
  isWordUsed(spec: AnyDocumentSpec, search: SearchIndex, words: string): string;
  /**
   * The columns that identify the rows of documents and of their indexes, and by which both are
   * ordered.
   */
  rowKeys(spec: AnyDocumentSpec): readonly RowKey[];
  /**
   * Ends a SELECT so that nobody else changes its rows until the transaction ends; "" if there is
   * only one writer anyway.
   */
  readonly holdRows: string;
  /**
   * A query by which one transaction at a time has the name in its placeholder; "" if there is only
   * one writer anyway.
   */
  readonly holdName: string;
  /**
   * Ends a SELECT so that nobody deletes or seizes its rows until the transaction ends, while
   * updates go on; "" as above.
   */
  readonly shareRows: string;
  /**
   * Ends a SELECT so that it waits until nobody shares its rows, and nobody does until the
   * transaction ends; "" as above.
   */
  readonly seizeRows: string;
  /** The column by which search indexes refer to the row of a document. */
  readonly rowKey: string;
  /**
   * A statement that removes a row from an index. Its parameters are the `rowKey`, then the tenant
   * if the type has tenants.
   */
  indexRemove(spec: AnyDocumentSpec, index: string): string;
  /**
   * The expression of the engine's own clock in epoch milliseconds, the same throughout a
   * statement.
   */
  readonly now: string;
  /** The columns to select for a document, as `readStored` reads them. */
  readonly columns: string;
  /**
   * Ends a SELECT so that it locks its rows, and skips rows that another transaction has locked; ""
   * if there is one writer.
   */
  readonly skipLocked: string;
}

/** The names of the columns that a query selects. */
export interface ScanColumns {
  /** Columns that hold text or whole numbers only. */
  readonly stored: readonly string[];
  /** Computed columns, which may also hold fractions. */
  readonly computed?: readonly string[];
}

/** A column of the key that identifies a row. */
export interface RowKey {
  readonly column: string;
  /** The SQL type of its values. */
  readonly type: "integer" | "text" | "uuid";
}

/** A statement on an index; `parameters` makes its parameters from what is put into the index. */
export interface IndexStatement<What> {
  readonly text: string;
  parameters(what: What): readonly SqlValue[];
}

/**
 * Runs statements within one transaction, or of one piece of work that only reads. Each text is
 * prepared once and kept.
 */
export interface SqlSession {
  readonly dialect: Dialect;
  /** Runs a statement whose cost is bounded by its keys, and returns its rows. */
  all(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /**
   * Runs a query whose cost depends on the data, and returns its rows. It waits for its turn, and
   * ends at the work's deadline or when the caller disconnects.
   */
  scan(
    text: string,
    parameters: readonly SqlValue[],
    columns: ScanColumns,
  ): Promise<readonly SqlRow[]>;
  /** Runs a statement and returns how many rows it changed. */
  run(text: string, parameters: readonly SqlValue[]): Promise<number>;
}

/** Quotes an identifier. The generator derives all of them; none comes from a client. */
export function quoteName(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** Reads the value of a boolean column: SQLite stores booleans as 0 and 1. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1;
}

/** Reads the value of a column as its field's type. The value must not be null. */
export function readScalar(type: FieldType, value: unknown): string | number | boolean {
  if (type === "boolean") return isTrue(value);
  return type === "integer" || type === "number" ? Number(value) : String(value);
}

/** Reads the value of a text column that may be null. */
export function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value);
}

/** Reads the value of a number column that may be null. */
export function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}

/** The error of a call on a transaction that has ended: `core.timeout`. */
export function hasEnded(): ServiceError {
  return fail("core.timeout", {}, { cause: new Error("the transaction has ended") });
}

/**
 * The error of a transaction whose work has returned before its statements were done:
 * `core.internal`.
 */
export function stillRunning(statements: number): ServiceError {
  const text = `an await is missing: ${statements} statements were under way when the work returned`;
  return fail("core.internal", {}, { cause: new Error(text) });
}

/** The error of a write outside a write transaction: `core.configuration`. */
export function readsOnly(): ServiceError {
  const cause = new Error("a write outside a write transaction");
  return fail("core.configuration", {}, { cause });
}
