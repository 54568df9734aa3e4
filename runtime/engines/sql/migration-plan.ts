// What a migration would do: the pending statements, which tables each locks, and about how many
// rows these have.
import { ServiceError } from "../../contract/errors.js";
import { rowsInTheWay } from "./migration-checks.js";
import { partName, readMigrations, type MigrationFile } from "./migration-files.js";
import {
  plannedStatements,
  type StatementEffect,
  type PlannedStatement,
} from "./migration-locks.js";
import { appliedMigrations, divergence } from "./migration-records.js";
import type { MigrationTarget } from "./migrations.js";
import { quoteName, type SqlSession } from "./session.js";

/**
 * A table with this many rows or more is large: a statement that goes through it takes about a
 * second, and everybody who needs its lock waits as long.
 */
export const largeRows = 100_000;

/** What a statement does to a table, with the approximate size of the table. */
export interface MeasuredEffect extends Omit<StatementEffect, "of"> {
  /** The name of the table; for an index that doesn't exist, the name of the index. */
  readonly table: string;
  /** About how many rows the table has; null if it doesn't exist yet. */
  readonly rows: number | null;
  /** Whether it goes through a large table while others have to wait. */
  readonly locksLarge: boolean;
}

/** A statement of a pending migration, or its checks of existing rows, with the effects. */
export interface PlannedStep {
  readonly file: string;
  readonly statement: string;
  readonly effects: readonly MeasuredEffect[];
  /**
   * What can't be created because of existing rows. If there is anything, nothing of the file would
   * be applied.
   */
  readonly inTheWay?: readonly string[];
}

/** What `applyMigrations` would do now, in order. Changes nothing. */
export async function planMigrations(
  target: MigrationTarget,
  folder: string,
): Promise<readonly PlannedStep[]> {
  const files = await readMigrations(target.engine, folder);
  return target.inspect(async (session) => {
    const applied = new Set((await appliedMigrations(session)).keys());
    // A table that an earlier step creates has no rows, whatever has its name now.
    const made = new Set<string>();
    const steps: PlannedStep[] = [];
    for (const file of files.filter(({ name }) => !applied.has(name))) {
      if (file.checks.length > 0) steps.push(await lookAtRows(session, file));
      for (const statement of statementsOf(target.engine, file, applied)) {
        const effects: MeasuredEffect[] = [];
        for (const effect of statement.effects)
          effects.push(await measureStatement(target.engine, session, effect, made));
        if (statement.makes !== null) made.add(statement.makes);
        steps.push({ file: file.name, statement: statement.text, effects });
      }
    }
    return steps;
  });
}

/** Why `applyMigrations` would refuse to do anything; empty if it wouldn't. */
export async function divergedMigrations(
  target: MigrationTarget,
  folder: string,
): Promise<readonly string[]> {
  const files = await readMigrations(target.engine, folder);
  return divergence(files, await target.inspect(appliedMigrations));
}

/**
 * The checks of a file, run now. A table that an earlier file has yet to create has no rows, so
 * they find none there.
 */
async function lookAtRows(session: SqlSession, file: MigrationFile): Promise<PlannedStep> {
  const inTheWay = await rowsInTheWay(session, file).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "core.infrastructure") return [];
    throw error;
  });
  return {
    file: file.name,
    statement: "-- looks at the rows that are there",
    effects: [],
    inTheWay,
  };
}

function statementsOf(
  engine: MigrationTarget["engine"],
  { name, parts }: MigrationFile,
  applied: ReadonlySet<string>,
): readonly PlannedStatement[] {
  return parts
    .filter((_part, at) => !applied.has(partName(name, at)))
    .flatMap((part) => (part.isOnline ? part.statements.join("\n") : part.text))
    .flatMap((text) => plannedStatements(engine, text));
}

async function measureStatement(
  engine: MigrationTarget["engine"],
  session: SqlSession,
  { of, ...effect }: StatementEffect,
  made: ReadonlySet<string>,
): Promise<MeasuredEffect> {
  const table = of.kind === "table" ? of.name : await tableOf(engine, session, of.name);
  const rows = table === null || made.has(table) ? null : await rowsOf(engine, session, table);
  const waits = effect.walks && effect.keepsWaiting !== "nobody";
  return {
    ...effect,
    table: table ?? of.name,
    rows,
    locksLarge: waits && (rows ?? 0) >= largeRows,
  };
}

/** The table that an index belongs to; null if there is no such index. */
async function tableOf(
  engine: MigrationTarget["engine"],
  session: SqlSession,
  index: string,
): Promise<string | null> {
  const [row] = await session.all(asked[engine].tableOf, [index]);
  return row === undefined ? null : String(row["table"]);
}

/**
 * Each engine's queries: whether a table exists, which table an index belongs to, and about how
 * many rows a large table has.
 */
const asked: Readonly<
  Record<
    MigrationTarget["engine"],
    {
      readonly isThere: string;
      readonly tableOf: string;
      readonly rows: (table: string, session: SqlSession) => string;
    }
  >
> = {
  postgres: {
    isThere: `SELECT 1 AS "there" WHERE to_regclass(quote_ident($1::text)) IS NOT NULL`,
    tableOf: `SELECT c.relname AS "table" FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE i.indexrelid = to_regclass(quote_ident($1::text))`,
    rows: (table, { dialect }) => dialect.tableRows(table),
  },
  sqlite: {
    isThere: `SELECT 1 AS "there" FROM "sqlite_schema" WHERE "type" = 'table' AND "name" = ?1`,
    tableOf: `SELECT "tbl_name" AS "table" FROM "sqlite_schema" WHERE "type" = 'index' AND "name" = ?1`,
    rows: (table) => `SELECT count(*) AS "rows" FROM ${quoteName(table)}`,
  },
};

/** How many rows a table has, exact unless it is large; null if it doesn't exist. */
async function rowsOf(
  engine: MigrationTarget["engine"],
  session: SqlSession,
  table: string,
): Promise<number | null> {
  const { isThere, rows } = asked[engine];
  if ((await session.all(isThere, [table])).length === 0) return null;
  const ask = async (text: string): Promise<number> =>
    Number((await session.all(text, []))[0]?.["rows"] ?? 0);
  const counted = await ask(
    `SELECT count(*) AS "rows" FROM (SELECT 1 FROM ${quoteName(table)} LIMIT ${largeRows}) AS "counted"`,
  );
  return counted < largeRows ? counted : Math.max(counted, await ask(rows(table, session)));
}
