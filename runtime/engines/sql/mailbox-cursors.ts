// Cursors of mailboxes over SQL: how far each device of a principal has acknowledged.
import type { MailboxOwner, MailboxStore } from "../../ports/mailbox.js";
import type { SqlSession } from "./session.js";

/** The device of connections without one: within a mailbox, they all share its cursor. */
const shared = "";

/** How many surplus cursors a new one removes at most. */
const cursorsAtOnce = 1_000;

/** The methods of the mailbox store that deal with devices' cursors, within one transaction. */
export function sqlCursors(
  session: SqlSession,
): Pick<MailboxStore, "state" | "devices" | "acknowledge"> {
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
    async state(owner, device) {
      const text = `SELECT "position" FROM "opwright_cursors" WHERE ${owned} AND "device" = ${at(3)}`;
      const [row] = await session.all(text, [...keyOf(owner), device ?? shared]);
      return {
        ...(await headOf(owner)),
        cursor: row === undefined ? null : Number(row["position"]),
      };
    },

    async devices(owner) {
      const text =
        `SELECT "device", "position", "seen_at" FROM "opwright_cursors" WHERE ${owned} ` +
        `ORDER BY "seen_at" DESC, "device"`;
      const rows = await session.all(text, keyOf(owner));
      return rows.map(({ device, position, seen_at: seenAt }) => ({
        device: device === shared ? null : String(device),
        position: Number(position),
        acknowledgedAt: Number(seenAt),
      }));
    },

    async acknowledge(owner, device, position, now, mostDevices) {
      const { head } = await headOf(owner);
      const cursor = [...keyOf(owner), device ?? shared, Math.min(position, head), now];
      // A single statement, so that acknowledgements which overtake each other never move the
      // cursor back.
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
