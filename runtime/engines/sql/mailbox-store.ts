// Mailboxes over SQL, one for all SQL engines: payloads once, places per principal, cursors per device.
import type { MailboxOwner, MailboxStore } from "../../realtime/port.js";
import { sqlNumbering } from "./mailbox-numbering.js";
import { sqlRetention } from "./mailbox-retention.js";
import type { SqlRow, SqlSession } from "./session.js";

/** The device of those that have none: all connections of a principal share its cursor. */
const shared = "";

/** Mailboxes that one statement asks about. */
const ownersAtOnce = 1_000;

/** Cursors that make room for one more, at most. */
const cursorsAtOnce = 1_000;

/** The mailboxes of one transaction. */
export function sqlMailboxStore(session: SqlSession): MailboxStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const owned = `"tenant_id" = ${at(1)} AND "principal_id" = ${at(2)}`;
  const keyOf = ({ tenant, principalId }: MailboxOwner) => [tenant, principalId] as const;

  const headOf = async (
    owner: MailboxOwner,
  ): Promise<{ readonly head: number; readonly floor: number }> => {
    const text = `SELECT "head", "floor" FROM "opwright_mailbox_heads" WHERE ${owned}`;
    const [row] = await session.all(text, keyOf(owner));
    return { head: Number(row?.["head"] ?? 0), floor: Number(row?.["floor"] ?? 0) };
  };

  return {
    ...sqlNumbering(session),
    ...sqlRetention(session),

    async read(owner, after, limit) {
      const rows = await session.all(
        `SELECT m."position", m."signal_id", s."name", s."data" FROM "opwright_mailbox" m ` +
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
      }));
    },

    async heads(owners) {
      const found: (MailboxOwner & { readonly head: number })[] = [];
      for (let from = 0; from < owners.length; from += ownersAtOnce) {
        const some = owners.slice(from, from + ownersAtOnce);
        const asked = session.dialect.records({ tenant_id: "text", principal_id: "uuid" }, at(1));
        const heads = await session.all(
          `SELECT h."tenant_id", h."principal_id", h."head" FROM ${asked} JOIN "opwright_mailbox_heads" h ` +
            `ON h."tenant_id" = w."tenant_id" AND h."principal_id" = w."principal_id"`,
          [
            JSON.stringify(
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

    async state(owner, device) {
      const text = `SELECT "position" FROM "opwright_cursors" WHERE ${owned} AND "device" = ${at(3)}`;
      const [row] = await session.all(text, [...keyOf(owner), device ?? shared]);
      return {
        ...(await headOf(owner)),
        cursor: row === undefined ? null : Number(row["position"]),
      };
    },

    async has(owner, position, eventId) {
      const text = `SELECT 1 AS "one" FROM "opwright_mailbox" WHERE ${owned} AND "position" = ${at(3)} AND "signal_id" = ${at(4)}`;
      return (await session.all(text, [...keyOf(owner), position, eventId])).length === 1;
    },

    async acknowledge(owner, device, position, now, mostDevices) {
      const { head } = await headOf(owner);
      const cursor = [...keyOf(owner), device ?? shared, Math.min(position, head), now];
      // One statement, so that acknowledgements that overtake each other never move it back.
      const moved =
        `"seen_at" = ${at(5)}, "position" = CASE WHEN ${at(4)} > "opwright_cursors"."position" ` +
        `THEN ${at(4)} ELSE "opwright_cursors"."position" END`;
      const [known] = await session.all(
        `UPDATE "opwright_cursors" SET ${moved} WHERE ${owned} AND "device" = ${at(3)} RETURNING "position"`,
        cursor,
      );
      if (known !== undefined) return Number(known["position"]);
      const [row] = await session.all(
        `INSERT INTO "opwright_cursors" ("tenant_id", "principal_id", "device", "position", "seen_at", "check_at") ` +
          `VALUES (${[1, 2, 3, 4, 5, 5].map(at).join(", ")}) ` +
          `ON CONFLICT ("tenant_id", "principal_id", "device") DO UPDATE SET ${moved} RETURNING "position"`,
        cursor,
      );
      await session.run(
        `DELETE FROM "opwright_cursors" WHERE ${owned} AND "device" IN (` +
          `SELECT "device" FROM "opwright_cursors" WHERE ${owned} AND "device" NOT IN (${at(3)}, ${at(4)}) ` +
          `ORDER BY "seen_at" DESC, "device" LIMIT ${at(5)} OFFSET ${at(6)})`,
        [...keyOf(owner), device ?? shared, shared, cursorsAtOnce, mostDevices - 1],
      );
      return Number(row?.["position"]);
    },
  };
}

function ownerOf(row: SqlRow): MailboxOwner {
  return { tenant: String(row["tenant_id"]), principalId: String(row["principal_id"]) };
}
