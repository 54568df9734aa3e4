// What the shared SQL stores need from an engine: statements with positional parameters.
import { fail, type ServiceError } from "../../contract/errors.js";
import type { Dialect } from "./dialect/dialect.js";
import type { SqlValue } from "./dialect/values.js";
import type { FieldType } from "../../contract/fields.js";

export type SqlRow = Readonly<Record<string, unknown>>;

/** The names of the columns that a query selects, and the queries that it names itself. */
export interface ScanColumns {
  /** Columns that hold text or whole numbers only. */
  readonly stored: readonly string[];
  /** Computed columns, which may also hold fractions. */
  readonly computed?: readonly string[];
  /**
   * Queries that the text names, `"name" AS (…)` each, which are printed before it (`WITH`). Within
   * the text they would be deeper, and SQLite's parser bears 100 levels.
   */
  readonly parts?: string;
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
  /**
   * Runs a statement of a transaction whose outcome nobody asks for. Resolves once whoever writes
   * may go on, which is at once where the engine is a network away: every later statement sees what
   * it wrote, and if it fails, so does what comes next, at the latest the commit, with its error.
   */
  runPipelined(text: string, parameters: readonly SqlValue[]): Promise<void>;
}

/** A query with those that it names. */
export function withParts(text: string, { parts }: Pick<ScanColumns, "parts">): string {
  return parts === undefined ? text : `WITH ${parts} ${text}`;
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
  const cause = new Error(
    "a write outside a write transaction: do it within context.commit, or by an operation that writes",
  );
  return fail("core.configuration", {}, { cause });
}
