// Removes old entries and signals from mailboxes in batches. Every statement uses an index and
// touches a bounded number of rows.
import type { MailboxStore } from "../../ports/mailbox.js";
import { recordsText } from "./records.js";
import type { SqlRow, SqlSession } from "./session.js";

/** A position in a mailbox: the entries up to and including it are to be removed. */
interface End {
  readonly tenant_id: string;
  readonly principal_id: string;
  readonly position: number;
}

/** The columns that identify a mailbox, as members for `dialect.records`. */
export const mailboxFields = { tenant_id: "text", principal_id: "uuid" } as const;
const endFields = { ...mailboxFields, position: "integer" } as const;

/**
 * The condition that the rows of two tables, given by their aliases, belong to the same mailbox.
 */
export const isSameMailbox = (left: string, right: string): string =>
  `${left}."tenant_id" = ${right}."tenant_id" AND ${left}."principal_id" = ${right}."principal_id"`;

/**
 * The condition that no mailbox has a signal `s`. Scalar subqueries, so that each signal is looked
 * up by an index: entries have the `created_at` of their signal, so the index over that finds them.
 */
export const isUnused =
  `(SELECT 1 FROM "opwright_mailbox" m WHERE m."created_at" = s."created_at" AND m."signal_id" = s."id" LIMIT 1) IS NULL ` +
  `AND (SELECT 1 FROM "opwright_staged_signals" q WHERE q."signal_id" = s."id" LIMIT 1) IS NULL`;

/** The methods of the mailbox store that remove entries and signals, within one transaction. */
export function sqlRetention(session: SqlSession): Pick<MailboxStore, "trim" | "pruneSignals"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  /**
   * The positions up to which mailboxes should be trimmed: entries older than `before`, and all but
   * the newest `most`.
   */
  const wanted = async (before: number, most: number, limit: number): Promise<readonly End[]> => {
    const old = await session.all(
      `SELECT o."tenant_id", o."principal_id", MAX(o."position") AS "position" FROM (` +
        `SELECT "tenant_id", "principal_id", "position" FROM "opwright_mailbox" WHERE "created_at" < ${at(1)} ` +
        `ORDER BY "created_at" LIMIT ${limit}) o GROUP BY o."tenant_id", o."principal_id"`,
      [before],
    );
    const long = await session.all(
      `SELECT "tenant_id", "principal_id", "head" - ${at(1)} AS "position" FROM "opwright_mailbox_heads" ` +
        `WHERE ("head" - "floor") > ${at(1)} ORDER BY ("head" - "floor") DESC LIMIT ${limit}`,
      [most],
    );
    const ends = new Map<string, End>();
    for (const end of [...old, ...long].map(endOf)) {
      const key = `${end.tenant_id}\0${end.principal_id}`;
      const other = ends.get(key);
      if (other === undefined || other.position < end.position) ends.set(key, end);
    }
    return [...ends.values()];
  };

  /**
   * Lowers these to at most `limit` entries in all. Skips mailboxes that are being numbered (their
   * head is locked).
   */
  const possible = async (ends: readonly End[], limit: number): Promise<readonly End[]> => {
    const rows = await session.all(
      `SELECT h."tenant_id", h."principal_id", h."floor", w."position" ` +
        `FROM ${dialect.records(endFields, at(1))} JOIN "opwright_mailbox_heads" h ` +
        `ON ${isSameMailbox("h", "w")} WHERE h."floor" < w."position"${dialect.skipLocked}`,
      [recordsText(endFields, ends)],
    );
    let room = limit;
    const cut: End[] = [];
    for (const row of rows) {
      if (room <= 0) break;
      const [end, floor] = [endOf(row), Number(row["floor"])];
      // Entries are removed from the start of a mailbox: a younger entry goes too if an older one
      // comes after it.
      const position = Math.min(end.position, floor + room);
      room -= position - floor;
      cut.push({ ...end, position });
    }
    return cut;
  };

  return {
    async trim(before, most, limit) {
      const ends = await wanted(before, most, limit);
      if (ends.length === 0) return 0;
      const cut = await possible(ends, limit);
      if (cut.length === 0) return 0;
      const reached = dialect.records(endFields, at(1));
      const removed = await session.run(
        `DELETE FROM "opwright_mailbox" WHERE ${dialect.isRowOf(
          "m",
          `${reached} JOIN "opwright_mailbox" m ON ${isSameMailbox("m", "w")} AND m."position" <= w."position"`,
        )}`,
        [recordsText(endFields, cut)],
      );
      await session.run(
        `UPDATE "opwright_mailbox_heads" SET "floor" = w."position" FROM ${reached} ` +
          `WHERE ${isSameMailbox(`"opwright_mailbox_heads"`, "w")} AND "opwright_mailbox_heads"."floor" < w."position"`,
        [recordsText(endFields, cut)],
      );
      return removed;
    },

    pruneSignals(before, limit) {
      const old =
        `"opwright_signals" s WHERE s."created_at" < ${at(1)} AND ${isUnused} ` +
        `ORDER BY s."created_at" LIMIT ${limit}`;
      return session.run(`DELETE FROM "opwright_signals" WHERE ${dialect.isRowOf("s", old)}`, [
        before,
      ]);
    },
  };
}

function endOf(row: SqlRow): End {
  return {
    tenant_id: String(row["tenant_id"]),
    principal_id: String(row["principal_id"]),
    position: Number(row["position"]),
  };
}
