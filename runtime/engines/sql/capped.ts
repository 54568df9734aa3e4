// Rows of which somebody may have so many: who counts them and then adds one does so alone.
import type { SqlSession } from "./session.js";

/**
 * Until the transaction ends, nobody else passes here for the same rows: without it, two that count
 * at once would both add. Call it before counting.
 */
export async function holdCount(session: SqlSession, what: string, of: string): Promise<void> {
  const { holdName } = session.dialect;
  if (holdName !== "") await session.all(holdName, [`opwright count ${what} ${of}`]);
}
