// opwright's own tables, as steps: each is applied once, in a migration of its own time, and never
// changed afterwards. What a table needs later is a further step beside it
// (`opwright_staged_signals.shard`).
import { createTable, quoteName, type EngineName } from "./ddl-parts.js";

/** A table as it was made first. */
export interface SystemTable {
  readonly columns: readonly string[];
  readonly indexes?: readonly string[];
  /**
   * Whether its rows may be lost when the server crashes; then PostgreSQL has no commit wait for
   * the disk.
   */
  readonly isUnlogged?: boolean;
}

/**
 * Steps by their names, in whose order they are applied: a table, or statements that change one
 * (`<table>.<what>`).
 */
export type SystemTables = (
  engine: EngineName,
) => Readonly<Record<string, SystemTable | readonly string[]>>;

/** The statements of one step. */
export function stepText(
  engine: EngineName,
  name: string,
  step: SystemTable | readonly string[],
): string {
  if (isStatements(step)) return step.join("\n");
  const indexes = (step.indexes ?? []).map(
    (column) =>
      `CREATE INDEX ${quoteName(`${name}_by_${column}`)} ON ${quoteName(name)} (${quoteName(column)});`,
  );
  const kind = step.isUnlogged === true && engine === "postgres" ? "UNLOGGED TABLE" : "TABLE";
  return [createTable(name, step.columns, kind), ...indexes].join("\n");
}

function isStatements(step: SystemTable | readonly string[]): step is readonly string[] {
  return Array.isArray(step);
}

/** The condition that a column is not null. */
export function present(column: string): string {
  return `${quoteName(column)} IS NOT NULL`;
}

export function addColumn(table: string, column: string): string {
  return `ALTER TABLE ${quoteName(table)} ADD COLUMN ${column};`;
}

/** An index of a table, of all its rows or of those that pass a condition. */
export function index(name: string, table: string, columns: string, condition?: string): string {
  const rows = condition === undefined ? "" : ` WHERE ${condition}`;
  return `CREATE INDEX ${quoteName(name)} ON ${quoteName(table)} (${columns})${rows};`;
}
