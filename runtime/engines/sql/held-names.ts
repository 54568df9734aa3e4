// Names that one transaction has at a time.
import type { SqlSession } from "./session.js";

/**
 * Takes those of these names that nobody else has, without waiting, and returns them: the
 * transaction has them until it ends.
 */
export async function tryHold(
  session: SqlSession,
  names: readonly string[],
): Promise<readonly string[]> {
  const { tryHoldNames, list } = session.dialect;
  if (tryHoldNames === "") return names;
  const rows = await session.all(tryHoldNames, [list(names)]);
  return rows.map((row) => String(row["name"]));
}
