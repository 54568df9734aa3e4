// Mailboxes over SQL, shared by all SQL engines: a payload per signal, a position per mailbox, a
// cursor per device.
import type { MailboxOwner, MailboxStore } from "../../ports/mailbox.js";
import { sqlCursorRetention } from "./cursor-retention.js";
import { sqlCursors } from "./mailbox-cursors.js";
import { sqlNumbering } from "./mailbox-numbering.js";
import { sqlMailboxRemoval } from "./mailbox-removal.js";
import { mailboxFields, sqlRetention } from "./mailbox-retention.js";
import { sqlStaging } from "./mailbox-staging.js";
import { recordsText } from "./records.js";
import { textOrNull, type SqlRow, type SqlSession } from "./session.js";

/** How many mailboxes one statement asks about at most. */
const ownersAtOnce = 1_000;

/** The mailbox store of one transaction. */
export function sqlMailboxStore(session: SqlSession): MailboxStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const owned = `"tenant_id" = ${at(1)} AND "principal_id" = ${at(2)}`;
  const keyOf = ({ tenant, principalId }: MailboxOwner) => [tenant, principalId] as const;

  return {
    async read(owner, after, limit) {
      const rows = await session.all(
        `SELECT m."position", m."signal_id", s."name", s."data", s."shape", s."traceparent" FROM "opwright_mailbox" m ` +
          `JOIN "opwright_signals" s ON s."id" = m."signal_id" ` +
          `WHERE m."tenant_id" = ${at(1)} AND m."principal_id" = ${at(2)} AND m."position" > ${at(3)} ` +
          `ORDER BY m."position" LIMIT ${at(4)}`,
        [...keyOf(owner), after, limit],
      );
      return rows.map((row) => ({
        position: Number(row["position"]),
        eventId: String(row["signal_id"]),
        name: String(row["name"]),
        data: String(row["data"]),
        shape: textOrNull(row["shape"]),
        traceparent: textOrNull(row["traceparent"]),
      }));
    },

    async heads(owners) {
      const found: (MailboxOwner & { readonly head: number })[] = [];
      for (let from = 0; from < owners.length; from += ownersAtOnce) {
        const some = owners.slice(from, from + ownersAtOnce);
        const asked = session.dialect.records(mailboxFields, at(1));
        const heads = await session.all(
          `SELECT h."tenant_id", h."principal_id", h."head" FROM ${asked} JOIN "opwright_mailbox_heads" h ` +
            `ON h."tenant_id" = w."tenant_id" AND h."principal_id" = w."principal_id"`,
          [
            recordsText(
              mailboxFields,
              some.map(({ tenant, principalId }) => ({
                tenant_id: tenant,
                principal_id: principalId,
              })),
            ),
          ],
        );
        for (const row of heads) found.push({ ...ownerOf(row), head: Number(row["head"]) });
      }
      return found;
    },

    async has(owner, position, eventId) {
      const text = `SELECT 1 AS "one" FROM "opwright_mailbox" WHERE ${owned} AND "position" = ${at(3)} AND "signal_id" = ${at(4)}`;
      return (await session.all(text, [...keyOf(owner), position, eventId])).length === 1;
    },

    // After the methods: an object literal that begins with a spread takes twenty times as long to
    // create.
    ...sqlCursors(session),
    ...sqlStaging(session),
    ...sqlNumbering(session),
    ...sqlRetention(session),
    ...sqlMailboxRemoval(session),
    ...sqlCursorRetention(session),
  };
}

function ownerOf(row: SqlRow): MailboxOwner {
  return { tenant: String(row["tenant_id"]), principalId: String(row["principal_id"]) };
}
