// What the shared SQL stores need of an engine: statements with positional parameters, and its dialect.
import { fail, type ServiceError } from "../../contract/errors.js";
import type { DocumentDeclaration, SearchIndex } from "../../ports/document-spec.js";
import type { Pattern } from "../../query/pattern.js";
import type { FieldType } from "../../contract/fields.js";
import type { AggregateFunction, TruncUnit } from "../../query/aggregate.js";
import type { FieldReference } from "../../query/fields.js";
import type { Match } from "../../query/match.js";
import type { IndexedDocument } from "../../families/search/indexed-document.js";
import type { SearchSpec } from "../../ports/search-spec.js";

export type SqlValue = string | number | boolean | null | readonly SqlValue[];
export type SqlRow = Readonly<Record<string, unknown>>;

/** Functions that engines compute in ways of their own. */
export type Statistic = Exclude<AggregateFunction, "$count" | "$count_distinct" | "$min" | "$max">;

/** Takes values while SQL is printed, and gives their placeholders. */
export interface ParameterSink {
  add(value: SqlValue): string;
}

/** Types of the members of records; `json` is a JSON value, given as its text. */
export type RecordType = "integer" | "text" | "uuid" | "boolean" | "timestamp" | "json";

/** Where engines print SQL differently. */
export interface Dialect {
  /** The placeholder of the parameter at a position, counted from 1. */
  placeholder(position: number): string;
  /** The expression of a declared field; the same text that its indexes have. */
  field(field: FieldReference): string;
  /** A placeholder typed as the field, so that both sides compare alike. */
  operand(field: FieldReference, placeholder: string): string;
  /** The value of an operand as it is bound. */
  bind(field: FieldReference, value: SqlValue): SqlValue;
  /** The expression of a field, in a form in which columns and body fields compare. */
  comparable(field: FieldReference): string;
  /** The id of a row of this name, as body fields that name it have it. */
  idText(row: string): string;
  /** Whether the field is absent or null, or is not. */
  isNull(field: FieldReference, isNull: boolean): string;
  /** Whether the field is an array. */
  isArray(field: FieldReference): string;
  /** The number of elements of a field that is an array. */
  arrayLength(field: FieldReference): string;
  /** The elements of a field as rows, for `FROM`; none where it is no array. */
  elements(field: FieldReference): string;
  /** A pattern as a parameter. */
  pattern(pattern: Pattern): string;
  /** Whether the field's text matches the pattern in the placeholder. */
  matches(field: FieldReference, placeholder: string): string;
  /** Whether the field's value is one of the list in the placeholder. */
  isIn(field: FieldReference, placeholder: string): string;
  /** A list of operands as one parameter value. */
  list(values: readonly SqlValue[]): SqlValue;
  /** The list in the placeholder as rows, for `FROM`, and the expression of their value. */
  listRows(element: FieldReference, placeholder: string): readonly [string, string];
  /** Records as rows `w` with these members, for `FROM`: the placeholder is what `recordsText` makes of them. */
  records(members: Readonly<Record<string, RecordType>>, placeholder: string): string;
  /**
   * Whether the row is one of those of `from` (what follows FROM, with its order and limit), under this name there: by its
   * address, so that a batch costs as much as it has rows.
   */
  isRowOf(name: string, from: string): string;
  /**
   * Whether the row `r` of a table is that of a record `w`, given what says so of a row by its key: each record is looked up,
   * whatever the planner believes of the table.
   */
  isRecorded(table: string, isRow: (row: string) => string): string;
  /** A placeholder that a SELECT gives back as it is, with the type that it has there. */
  typed(type: RecordType, placeholder: string): string;
  /** How many bytes the body of a row has. */
  readonly bodyBytes: string;
  /** A query for about how many rows a table has, as "rows". */
  tableRows(table: string): string;
  /** Types a placeholder as the JSON of a body. */
  json(placeholder: string): string;
  /** Whether `zone` wants to know the first and last time it is used for. */
  readonly zonesNeedRange: boolean;
  /** What stands for a time zone, as a parameter of `truncated`. */
  zone(timezone: string, first: string, last: string): string;
  /** The local beginning of the period that a time is in: `2026-03-01T00:00:00`. */
  truncated(text: string, unit: TruncUnit, type: FieldType, zone: string): string;
  /** A statistic of a group: the expression within the groups, and the one around them that makes it of its column. */
  statistic(
    name: Statistic,
    value: string,
    condition: string | null,
    fraction: number,
  ): { readonly inner: string; readonly outer: (column: string) => string };
  /** What to select from for documents that match words: their rows, joined with those of the index `s`, which has the score. */
  matching(
    spec: SearchSpec,
    tenant: string,
    match: Match,
    weights: Readonly<Record<string, number>>,
    parameters: ParameterSink,
  ): string;
  /** A query whose rows say whether there are trigrams to compare words by, or null where there never are. */
  readonly trigrams: string | null;
  /** `word`s of an index that may be spellings of one: their first letter, the least and most letters they have. */
  wordsLike(
    spec: SearchSpec,
    tenant: string,
    word: string,
    letters: readonly [number, number],
    parameters: ParameterSink,
    hasTrigrams: boolean,
  ): string;
  /** Statements that put a document into an index. */
  indexPut(
    spec: DocumentDeclaration,
    search: SearchIndex,
  ): readonly IndexStatement<IndexedDocument>[];
  /** Statements that do so with many at once, and leave those alone that are there as they are. */
  indexPutMany(
    spec: DocumentDeclaration,
    search: SearchIndex,
  ): readonly IndexStatement<readonly IndexedDocument[]>[];
  /** Whether any row of an index has the word in the row of the table of words with this name. */
  isWordUsed(spec: DocumentDeclaration, search: SearchIndex, words: string): string;
  /** What documents and the rows of their indexes are both ordered and told apart by. */
  rowKeys(spec: DocumentDeclaration): readonly RowKey[];
  /** Ends a SELECT so that nobody else changes its rows until the transaction has ended; "" where nobody can anyway. */
  readonly holdRows: string;
  /** Ends a SELECT so that nobody seizes its rows until the transaction has ended; "" where a writer is alone anyway. */
  readonly shareRows: string;
  /** Ends a SELECT so that it waits for who shares its rows, and nobody shares them until the transaction has ended. */
  readonly seizeRows: string;
  /** What the row of a document is known by to the indexes. */
  readonly rowKey: string;
  /** A statement that takes a row out of an index, with its key and its owner's columns as parameters. */
  indexRemove(spec: DocumentDeclaration, index: string): string;
  /** Epoch milliseconds of the engine's own clock, the same within a statement. */
  readonly now: string;
  /** What to select of a base column, so that text and numbers come back as they are answered. */
  readonly columns: string;
  /** Ends a SELECT within an UPDATE so that rows which another transaction holds are left to it. */
  readonly skipLocked: string;
}

/** What a query selects, by the names of its columns. */
export interface ScanColumns {
  /** Columns as they are stored: texts and whole numbers. */
  readonly stored: readonly string[];
  /** What is computed may be any number as well. */
  readonly computed?: readonly string[];
}

/** A column that rows are told apart by. */
export interface RowKey {
  readonly column: string;
  /** What a value of it is given as. */
  readonly type: "integer" | "text" | "uuid";
}

/** A statement about an index, and how its parameters are made of what is put into it. */
export interface IndexStatement<What> {
  readonly text: string;
  parameters(what: What): readonly SqlValue[];
}

/** Runs statements within one transaction. Text is prepared once and kept. */
export interface SqlSession {
  readonly dialect: Dialect;
  /** Rows of a statement whose cost its keys bound. */
  all(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /**
   * Rows of a query whose cost depends on data. It waits for its turn, and ends at the deadline of the work or when its
   * caller goes.
   */
  scan(
    text: string,
    parameters: readonly SqlValue[],
    columns: ScanColumns,
  ): Promise<readonly SqlRow[]>;
  /** Runs a statement and says how many rows it changed. */
  run(text: string, parameters: readonly SqlValue[]): Promise<number>;
}

/** Quotes an identifier that the generator derived; none comes from a client. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** SQLite's booleans are 0 and 1. */
export function isTrue(value: unknown): boolean {
  return value === true || value === 1;
}

/** A value of a column, not null, as its type has it. */
export function readScalar(type: FieldType, value: unknown): string | number | boolean {
  if (type === "boolean") return isTrue(value);
  return type === "integer" || type === "number" ? Number(value) : String(value);
}

export function textOrNull(value: unknown): string | null {
  return value === null ? null : String(value);
}

export function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}

/** What a call gets on a transaction that has ended. */
export function hasEnded(): ServiceError {
  return fail("core.timeout", {}, { cause: new Error("the transaction has ended") });
}

/** What a write gets outside a write transaction. */
export function readsOnly(): ServiceError {
  const cause = new Error("a write outside a write transaction");
  return fail("core.configuration", {}, { cause });
}
