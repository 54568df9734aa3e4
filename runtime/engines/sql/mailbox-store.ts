// Mailboxes over SQL, one for all SQL engines: payloads once, places per principal, cursors per device.
import type { MailboxOwner, MailboxStore, NumberedEntry } from "../../realtime/port.js";
import type { SqlRow, SqlSession } from "./session.js";

/** The device of those that have none: all connections of a principal share its cursor. */
const shared = "";

/** Mailboxes that one statement asks about. */
const ownersAtOnce = 200;

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
    async stage(tenant, { eventId, name, data }, principalIds, now) {
      await session.run(
        `INSERT INTO "opwright_signals" ("id", "name", "data", "created_at") VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)})`,
        [eventId, name, data, now],
      );
      for (const principalId of new Set(principalIds))
        await session.run(
          `INSERT INTO "opwright_staged_signals" ("tenant_id", "principal_id", "signal_id") VALUES (${at(1)}, ${at(2)}, ${at(3)})`,
          [tenant, principalId, eventId],
        );
    },

    async number(limit) {
      const staged = await session.all(
        `SELECT q."sequence", q."tenant_id", q."principal_id", q."signal_id", s."name", s."data", s."created_at" ` +
          `FROM "opwright_staged_signals" q JOIN "opwright_signals" s ON s."id" = q."signal_id" ` +
          `ORDER BY q."sequence" LIMIT ${at(1)}`,
        [limit],
      );
      const counts = new Map<string, { readonly owner: MailboxOwner; count: number }>();
      for (const row of staged) {
        const owner = ownerOf(row);
        const key = JSON.stringify(keyOf(owner));
        const counted = counts.get(key) ?? { owner, count: 0 };
        counted.count += 1;
        counts.set(key, counted);
      }
      const next = new Map<string, number>();
      // In one order, so that no two that number wait for each other.
      for (const [key, { owner, count }] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const [row] = await session.all(
          `INSERT INTO "opwright_mailbox_heads" ("tenant_id", "principal_id", "head", "floor") VALUES (${at(1)}, ${at(2)}, ${at(3)}, 0) ` +
            `ON CONFLICT ("tenant_id", "principal_id") DO UPDATE SET "head" = "opwright_mailbox_heads"."head" + ${at(3)} RETURNING "head"`,
          [...keyOf(owner), count],
        );
        next.set(key, Number(row?.["head"]) - count + 1);
      }
      const numbered: NumberedEntry[] = [];
      for (const row of staged) {
        const owner = ownerOf(row);
        const key = JSON.stringify(keyOf(owner));
        const position = next.get(key) ?? 0;
        next.set(key, position + 1);
        const eventId = String(row["signal_id"]);
        await session.run(
          `INSERT INTO "opwright_mailbox" ("tenant_id", "principal_id", "position", "signal_id", "created_at") VALUES (${[1, 2, 3, 4, 5].map(at).join(", ")})`,
          [...keyOf(owner), position, eventId, Number(row["created_at"])],
        );
        await session.run(`DELETE FROM "opwright_staged_signals" WHERE "sequence" = ${at(1)}`, [
          Number(row["sequence"]),
        ]);
        numbered.push({
          ...owner,
          position,
          eventId,
          name: String(row["name"]),
          data: String(row["data"]),
        });
      }
      return numbered;
    },

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
        const each = some.map(
          (_, index) =>
            `"tenant_id" = ${at(2 * index + 1)} AND "principal_id" = ${at(2 * index + 2)}`,
        );
        const heads = await session.all(
          `SELECT "tenant_id", "principal_id", "head" FROM "opwright_mailbox_heads" WHERE ${each.join(" OR ")}`,
          some.flatMap(keyOf),
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

    async acknowledge(owner, device, position, now) {
      const { head } = await headOf(owner);
      const reached = Math.min(position, head);
      // One statement, so that acknowledgements that overtake each other never move it back.
      const [row] = await session.all(
        `INSERT INTO "opwright_cursors" ("tenant_id", "principal_id", "device", "position", "seen_at") VALUES (${[1, 2, 3, 4, 5].map(at).join(", ")}) ` +
          `ON CONFLICT ("tenant_id", "principal_id", "device") DO UPDATE SET "seen_at" = excluded."seen_at", ` +
          `"position" = CASE WHEN excluded."position" > "opwright_cursors"."position" THEN excluded."position" ELSE "opwright_cursors"."position" END ` +
          `RETURNING "position"`,
        [...keyOf(owner), device ?? shared, reached, now],
      );
      return Number(row?.["position"]);
    },

    async trim(before, most) {
      const floors = new Map<string, { readonly owner: MailboxOwner; readonly floor: number }>();
      // What goes is the beginning of a mailbox: an entry that is younger than one behind it goes with it.
      const ends = [
        await session.all(
          `SELECT "tenant_id", "principal_id", MAX("position") AS "position" FROM "opwright_mailbox" ` +
            `WHERE "created_at" < ${at(1)} GROUP BY "tenant_id", "principal_id"`,
          [before],
        ),
        await session.all(
          `SELECT "tenant_id", "principal_id", "head" - ${at(1)} AS "position" FROM "opwright_mailbox_heads" ` +
            `WHERE "head" - ${at(1)} > "floor"`,
          [most],
        ),
      ];
      for (const row of ends.flat()) {
        const owner = ownerOf(row);
        const key = JSON.stringify(keyOf(owner));
        const floor = Math.max(floors.get(key)?.floor ?? 0, Number(row["position"]));
        floors.set(key, { owner, floor });
      }
      let removed = 0;
      for (const [, { owner, floor }] of [...floors].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const gone = await session.all(
          `DELETE FROM "opwright_mailbox" WHERE ${owned} AND "position" <= ${at(3)} RETURNING "position"`,
          [...keyOf(owner), floor],
        );
        removed += gone.length;
        await session.run(
          `UPDATE "opwright_mailbox_heads" SET "floor" = ${at(3)} WHERE ${owned} AND "floor" < ${at(3)}`,
          [...keyOf(owner), floor],
        );
      }
      // A device that lacks what is gone, and was not seen for so long, will be told of a gap without its cursor as well.
      await session.run(
        `DELETE FROM "opwright_cursors" WHERE "seen_at" < ${at(1)} AND "position" < (` +
          `SELECT h."floor" FROM "opwright_mailbox_heads" h WHERE h."tenant_id" = "opwright_cursors"."tenant_id" ` +
          `AND h."principal_id" = "opwright_cursors"."principal_id")`,
        [before],
      );
      await session.run(
        `DELETE FROM "opwright_signals" WHERE "created_at" < ${at(1)} AND NOT EXISTS (` +
          `SELECT 1 FROM "opwright_mailbox" m WHERE m."signal_id" = "opwright_signals"."id") AND NOT EXISTS (` +
          `SELECT 1 FROM "opwright_staged_signals" q WHERE q."signal_id" = "opwright_signals"."id")`,
        [before],
      );
      return removed;
    },
  };
}

function ownerOf(row: SqlRow): MailboxOwner {
  return { tenant: String(row["tenant_id"]), principalId: String(row["principal_id"]) };
}
