// Rows of which somebody may have so many: who counts them and then adds one does so alone.
import { hold, tryHold } from "./held-names.js";
import type { SqlSession } from "./session.js";

/**
 * Until the transaction ends, nobody else passes here for the same rows: without it, two that count
 * at once would both add. Call it before counting.
 */
export async function holdCount(session: SqlSession, what: string, of: string): Promise<void> {
  await hold(session, nameOf(what, of));
}

/** The same without waiting: false if somebody else is there, and one has to come back. */
export async function tryHoldCount(
  session: SqlSession,
  what: string,
  of: string,
): Promise<boolean> {
  return (await tryHold(session, [nameOf(what, of)])).length === 1;
}

function nameOf(what: string, of: string): string {
  return `opwright count ${what} ${of}`;
}
