// Names that one transaction has at a time, and how long it waits for others.
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

/** Waits for a name that others may have; the transaction has it until it ends. */
export async function hold(session: SqlSession, name: string): Promise<void> {
  const { holdName } = session.dialect;
  if (holdName !== "") await session.all(holdName, [name]);
}

/**
 * From now on the transaction waits for a lock at most so many milliseconds, and the engine ends it
 * once nobody has spoken in it for `silentMillis`. An engine with one writer has no such waits.
 */
export async function limitWaits(
  session: SqlSession,
  lockMillis: number,
  silentMillis: number,
): Promise<void> {
  const { limitWaits: text } = session.dialect;
  if (text !== "") await session.runPipelined(text, [String(lockMillis), String(silentMillis)]);
}
