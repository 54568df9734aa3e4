// The lock under which a principal is given anything, and under which anything of it ends.
import type { SqlSession } from "./session.js";

/**
 * Locks an active principal until the transaction ends; false if there is none. A statement that
 * ends what many rows say doesn't see rows that were added while it waited for one of them, so both
 * sides lock the principal first: before sessions and memberships, which keeps them from waiting
 * for each other for ever.
 */
export async function lockPrincipal(session: SqlSession, id: string): Promise<boolean> {
  const at = (position: number): string => session.dialect.placeholder(position);
  // Writing the row back unchanged locks it on engines with several writers.
  const held = await session.run(
    `UPDATE "opwright_principals" SET "is_active" = ${at(2)} WHERE "id" = ${at(1)} AND "is_active" = ${at(2)}`,
    [id, true],
  );
  return held === 1;
}
