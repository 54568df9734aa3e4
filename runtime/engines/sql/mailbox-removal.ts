// The mailboxes of somebody who is erased, over SQL.
import type { MailboxStore } from "../../ports/mailbox.js";
import { shardOf } from "../../ports/mailbox.js";
import { hold } from "./held-names.js";
import { shardName } from "./mailbox-numbering.js";
import { isUnused } from "./mailbox-retention.js";
import type { SqlSession } from "./session.js";

const signalField = { path: "id", type: "uuid", isColumn: true } as const;

/** The method of the mailbox store that removes what somebody has, within one transaction. */
export function sqlMailboxRemoval(
  session: SqlSession,
): Pick<MailboxStore, "placesOf" | "removeOf"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async placesOf(principalId) {
      const text = `SELECT DISTINCT "tenant_id" FROM "opwright_mailbox" WHERE "principal_id" = ${at(1)}`;
      const rows = await session.all(text, [principalId]);
      return rows.map((row) => String(row["tenant_id"]));
    },

    async removeOf(principalId) {
      // What a transaction is numbering just now would be there behind the removal.
      await hold(session, shardName(shardOf(principalId)));
      const removed = (table: string): Promise<number> =>
        session.run(`DELETE FROM "${table}" WHERE "principal_id" = ${at(1)}`, [principalId]);
      const waiting = `SELECT "signal_id" FROM "opwright_mailbox" WHERE "principal_id" = ${at(1)} UNION SELECT "signal_id" FROM "opwright_staged_signals" WHERE "principal_id" = ${at(1)}`;
      const told = (await session.all(waiting, [principalId])).map((row) =>
        String(row["signal_id"]),
      );
      await removed("opwright_mailbox");
      await removed("opwright_staged_signals");
      await removed("opwright_cursors");
      // What others have heard as well is theirs.
      await session.run(
        `DELETE FROM "opwright_signals" WHERE ${dialect.isRowOf("s", `"opwright_signals" s WHERE ${dialect.isIn(signalField, at(1))} AND ${isUnused}`)}`,
        [dialect.list(told)],
      );
      return removed("opwright_mailbox_heads");
    },
  };
}
