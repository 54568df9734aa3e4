// Removes the cursors of devices that were away for so long that they have missed entries which are
// gone by now.
import type { MailboxStore } from "../../ports/mailbox.js";
import { isSameMailbox, mailboxFields } from "./mailbox-retention.js";
import { recordsText } from "./records.js";
import type { SqlRow, SqlSession } from "./session.js";

/** The method of the mailbox store that forgets such devices, within one transaction. */
export function sqlCursorRetention(session: SqlSession): Pick<MailboxStore, "pruneCursors"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async pruneCursors(before, now, limit) {
      const looked = await session.all(
        `SELECT c."tenant_id", c."principal_id", c."device", c."seen_at", c."position", h."floor" FROM (` +
          `SELECT * FROM "opwright_cursors" WHERE "check_at" <= ${at(1)} ` +
          `ORDER BY "check_at" LIMIT ${limit}${dialect.skipLocked}) c ` +
          `LEFT JOIN "opwright_mailbox_heads" h ON ${isSameMailbox("h", "c")}`,
        [now],
      );
      if (looked.length === 0) return 0;
      const cursors = looked.map((row) => ({
        tenant_id: String(row["tenant_id"]),
        principal_id: String(row["principal_id"]),
        device: String(row["device"]),
        // No cursor is checked more often than once per retention (`now - before`), counted from
        // when its device was last seen or, if that is longer ago, from now.
        check_at: (isSince(row, before) ? Number(row["seen_at"]) : now) + (now - before),
        isGone: !isSince(row, before) && Number(row["position"]) < Number(row["floor"] ?? 0),
      }));
      const fields = { ...mailboxFields, device: "text", check_at: "integer" } as const;
      const listed = dialect.records(fields, at(1));
      await session.run(
        `DELETE FROM "opwright_cursors" WHERE ${dialect.isRowOf(
          "c",
          `${listed} JOIN "opwright_cursors" c ON ${isSameMailbox("c", "w")} AND c."device" = w."device"`,
        )}`,
        [
          recordsText(
            fields,
            cursors.filter(({ isGone }) => isGone),
          ),
        ],
      );
      await session.run(
        `UPDATE "opwright_cursors" SET "check_at" = w."check_at" FROM ${listed} ` +
          `WHERE ${isSameMailbox(`"opwright_cursors"`, "w")} AND "opwright_cursors"."device" = w."device"`,
        [
          recordsText(
            fields,
            cursors.filter(({ isGone }) => !isGone),
          ),
        ],
      );
      return looked.length;
    },
  };
}

function isSince(row: SqlRow, before: number): boolean {
  return Number(row["seen_at"]) >= before;
}
