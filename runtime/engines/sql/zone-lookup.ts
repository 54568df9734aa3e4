// By which of its names an engine knows a time zone.
import { fail } from "../../contract/errors.js";
import { zoneNames } from "../../query/zones.js";
import { SqlParameters } from "./parameters.js";
import type { SqlSession } from "./session.js";

/** What was found, by what was asked for. Databases of one process have the same zones. */
const found = new Map<string, string>();

/**
 * The name to give to the engine: the asked one if it knows that. Throws `query_invalid` if it
 * knows none of them.
 */
export async function zoneOfEngine(session: SqlSession, timezone: string): Promise<string> {
  const { dialect } = session;
  if (dialect.zoneNames === null || timezone === "UTC") return timezone;
  const known = found.get(timezone);
  if (known !== undefined) return known;
  const parameters = new SqlParameters(dialect);
  const names = zoneNames(timezone);
  const asked = names.map((name) => `lower(${parameters.add(name)})`);
  const rows = await session.all(
    `SELECT z."name" FROM (${dialect.zoneNames}) AS z WHERE lower(z."name") IN (${asked.join(", ")})`,
    parameters.values,
  );
  const has = new Set(rows.map((row) => String(row["name"]).toLowerCase()));
  const name = names.find((one) => has.has(one.toLowerCase()));
  if (name === undefined) {
    const reason = `the database knows no time zone ${timezone}`;
    throw fail("query_invalid", { path: "/aggregates/$groups", reason });
  }
  found.set(timezone, name);
  return name;
}
