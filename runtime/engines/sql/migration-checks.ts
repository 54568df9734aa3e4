// The checks of existing rows that a migration runs before it changes anything.
import { fail } from "../../contract/errors.js";
import type { MigrationFile } from "./migration-files.js";
import type { SqlRow, SqlSession } from "./session.js";

/**
 * Runs the checks of a migration. Throws `core.configuration` if a check finds rows; the cause
 * describes them.
 */
export async function checkRows(session: SqlSession, file: MigrationFile): Promise<void> {
  const reasons = await rowsInTheWay(session, file);
  if (reasons.length === 0) return;
  const reason = `migration ${file.name} has changed nothing, since it cannot make ${reasons.join(", nor ")}`;
  throw fail("core.configuration", {}, { cause: new Error(reason) });
}

/**
 * What a migration could not create, each with a description of the rows in the way; empty if
 * nothing is in the way.
 */
export async function rowsInTheWay(
  session: SqlSession,
  { checks }: MigrationFile,
): Promise<readonly string[]> {
  const reasons: string[] = [];
  for (const { of, query } of checks) {
    const rows = await session.all(query, []);
    if (rows.length > 0) reasons.push(`${of} (${rows.map(describeRow).join("; ")})`);
  }
  return reasons;
}

/**
 * Describes a row that a check found: `rows` is a count, the other columns are values that these
 * rows share.
 */
function describeRow({ rows, ...values }: SqlRow): string {
  const texts = Object.entries(values).map(([name, value]) => `${name} ${spellValue(value)}`);
  return `${String(rows)} ${Number(rows) === 1 ? "row" : "rows"} with ${texts.join(", ")}`;
}

/** Text in quotes, numbers without: PostgreSQL returns some numbers as text. */
function spellValue(value: unknown): string {
  return typeof value === "string" && !/^-?\d+(?:\.\d+)?$/.test(value)
    ? JSON.stringify(value)
    : String(value);
}
