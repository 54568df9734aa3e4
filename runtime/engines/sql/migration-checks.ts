// What a migration asks of the rows that are there, before it changes anything.
import { fail } from "../../contract/errors.js";
import type { MigrationFile } from "./migration-files.js";
import type { SqlRow, SqlSession } from "./session.js";

/** Throws `core.configuration`, with the rows that stand in the way, where a query of the file finds any. */
export async function checkRows(session: SqlSession, file: MigrationFile): Promise<void> {
  const reasons = await rowsInTheWay(session, file);
  if (reasons.length === 0) return;
  const reason = `migration ${file.name} has changed nothing, since it cannot make ${reasons.join(", nor ")}`;
  throw fail("core.configuration", {}, { cause: new Error(reason) });
}

/** What a migration could not make, each with the rows that stand in the way. */
export async function rowsInTheWay(
  session: SqlSession,
  { checks }: MigrationFile,
): Promise<readonly string[]> {
  const reasons: string[] = [];
  for (const { of, query } of checks) {
    const rows = await session.all(query, []);
    if (rows.length > 0) reasons.push(`${of} (${rows.map(described).join("; ")})`);
  }
  return reasons;
}

/** `3 rows with title "same"`: what is not counted is a value that they have. */
function described({ rows, ...values }: SqlRow): string {
  const texts = Object.entries(values).map(([name, value]) => `${name} ${spelled(value)}`);
  return `${String(rows)} ${Number(rows) === 1 ? "row" : "rows"} with ${texts.join(", ")}`;
}

/** PostgreSQL gives numbers as text. */
function spelled(value: unknown): string {
  return typeof value === "string" && !/^-?\d+(?:\.\d+)?$/.test(value)
    ? JSON.stringify(value)
    : String(value);
}
