// The queue of the outbox: which events are due, who claims them, and which are given up.
import type { ClaimedEvent, OutboxStore } from "../../ports/outbox.js";
import { textOrNull, type SqlRow, type SqlSession } from "./session.js";

const nameField = { path: "name", type: "string", isColumn: true } as const;

/**
 * What is noted of an attempt when it begins; its outcome takes the place of this, unless the
 * process dies before.
 */
const endedWithProcess = "the process ended during delivery";

/**
 * How many of the oldest due events are looked at for one whose last attempt ended with its
 * process.
 */
const soughtAmong = 256;

/** The methods of the outbox store that work on the queue, within one transaction. */
export function sqlOutboxQueue(
  session: SqlSession,
): Pick<OutboxStore, "hasDue" | "claim" | "giveUp" | "release"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const due = (names: string, now: string): string =>
    `"dead_at" IS NULL AND "due_at" <= ${now} AND ${dialect.isIn(nameField, names)}`;
  return {
    async hasDue(names, now) {
      const text = `SELECT 1 AS "one" FROM "opwright_outbox" WHERE ${due(at(1), at(2))} LIMIT 1`;
      return (await session.all(text, [dialect.list(names), now])).length === 1;
    },

    // A claimed event is due again when its lease ends, so a relay that dies doesn't hold it up for
    // good.
    async claim(names, { now, leaseUntil, limit, areSuspect = false }) {
      const dueNow = due(at(1), at(2));
      const order = `ORDER BY "due_at", "id" LIMIT`;
      // Suspects are sought among the oldest only: there are few of them, and any number of others.
      const which = areSuspect
        ? `"last_error" = ${at(4)} AND "id" IN (SELECT "id" FROM "opwright_outbox" WHERE ${dueNow} ${order} ${soughtAmong})`
        : `${dueNow} AND coalesce("last_error", '') <> ${at(4)}`;
      const rows = await session.all(
        `UPDATE "opwright_outbox" SET "due_at" = ${at(3)}, "attempts" = "attempts" + 1, "last_error" = ${at(4)} ` +
          `WHERE "id" IN (SELECT "id" FROM "opwright_outbox" WHERE ${which} ${order} ${at(5)}${dialect.skipLocked}) ` +
          `RETURNING "id", "name", "payload", "tenant_id", "created_at", "attempts", "shape", "traceparent"`,
        [dialect.list(names), now, leaseUntil, endedWithProcess, limit],
      );
      return rows.map(readClaimed).sort((left, right) => (left.id < right.id ? -1 : 1));
    },

    async giveUp(id, now) {
      await session.run(
        `UPDATE "opwright_outbox" SET "due_at" = ${at(2)}, "dead_at" = ${at(2)}, "attempts" = "attempts" - 1 WHERE "id" = ${at(1)}`,
        [id, now],
      );
    },

    async release({ id, attempt }, now) {
      await session.run(
        `UPDATE "opwright_outbox" SET "due_at" = ${at(2)}, "attempts" = "attempts" - 1, "last_error" = NULL ` +
          `WHERE "id" = ${at(1)} AND "attempts" = ${at(3)} AND "dead_at" IS NULL`,
        [id, now, attempt],
      );
    },
  };
}

function readClaimed(row: SqlRow): ClaimedEvent {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    payload: String(row["payload"]),
    shape: textOrNull(row["shape"]),
    traceparent: textOrNull(row["traceparent"]),
    tenant: String(row["tenant_id"]),
    createdAt: Number(row["created_at"]),
    attempt: Number(row["attempts"]),
  };
}
