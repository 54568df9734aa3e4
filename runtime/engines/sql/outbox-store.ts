// The outbox over SQL, shared by all SQL engines. Delivered events leave no row behind; payloads arrive sealed.
import type { ClaimedEvent, OutboxStore } from "../../ports/outbox.js";
import type { SqlRow, SqlSession } from "./session.js";

const nameField = { path: "name", type: "string", isColumn: true } as const;

/** What is noted of an attempt when it begins; its outcome takes the place of this, unless the process dies before. */
const endedWithProcess = "the process ended during delivery";

/** How many events `state` counts at most. */
const mostCounted = 10_000;

/** The outbox store of one transaction. */
export function sqlOutboxStore(session: SqlSession): OutboxStore {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const due = (names: string, now: string): string =>
    `"dead_at" IS NULL AND "due_at" <= ${now} AND ${dialect.isIn(nameField, names)}`;
  return {
    async add({ id, name, payload, tenant, createdAt }) {
      await session.run(
        `INSERT INTO "opwright_outbox" ("id", "name", "payload", "tenant_id", "created_at", "due_at", "attempts") ` +
          `VALUES (${[1, 2, 3, 4, 5, 6, 7].map(at).join(", ")})`,
        [id, name, payload, tenant, createdAt, createdAt, 0],
      );
    },

    async hasDue(names, now) {
      const text = `SELECT 1 AS "one" FROM "opwright_outbox" WHERE ${due(at(1), at(2))} LIMIT 1`;
      return (await session.all(text, [dialect.list(names), now])).length === 1;
    },

    // A claimed event is due again when its lease ends, so a relay that dies doesn't hold it up for good.
    async claim(names, { now, leaseUntil, limit, areSuspect = false }) {
      const suspect = `coalesce("last_error", '') ${areSuspect ? "=" : "<>"} ${at(4)}`;
      const rows = await session.all(
        `UPDATE "opwright_outbox" SET "due_at" = ${at(3)}, "attempts" = "attempts" + 1, "last_error" = ${at(4)} ` +
          `WHERE "id" IN (SELECT "id" FROM "opwright_outbox" WHERE ${due(at(1), at(2))} AND ${suspect} ` +
          `ORDER BY "due_at", "id" LIMIT ${at(5)}${dialect.skipLocked}) ` +
          `RETURNING "id", "name", "payload", "tenant_id", "created_at", "attempts"`,
        [dialect.list(names), now, leaseUntil, endedWithProcess, limit],
      );
      return rows.map(readClaimed).sort((left, right) => (left.id < right.id ? -1 : 1));
    },

    async giveUp(names, { now, limit, maxAttempts }) {
      const rows = await session.all(
        `UPDATE "opwright_outbox" SET "due_at" = ${at(2)}, "dead_at" = ${at(2)}, "last_error" = ${at(3)} ` +
          `WHERE "id" IN (SELECT "id" FROM "opwright_outbox" WHERE ${due(at(1), at(2))} AND "attempts" >= ${at(4)} ` +
          `ORDER BY "due_at", "id" LIMIT ${at(5)}${dialect.skipLocked}) RETURNING "id", "name", "attempts"`,
        [dialect.list(names), now, endedWithProcess, maxAttempts, limit],
      );
      return rows.map((row) => ({
        id: String(row["id"]),
        name: String(row["name"]),
        attempt: Number(row["attempts"]),
      }));
    },

    async release(id, now) {
      await session.run(
        `UPDATE "opwright_outbox" SET "due_at" = ${at(2)}, "attempts" = "attempts" - 1, "last_error" = NULL ` +
          `WHERE "id" = ${at(1)} AND "dead_at" IS NULL AND "attempts" > 0`,
        [id, now],
      );
    },

    async remove(id) {
      await session.run(`DELETE FROM "opwright_outbox" WHERE "id" = ${at(1)}`, [id]);
    },

    async fail(id, dueAt, now, reason) {
      await session.run(
        `UPDATE "opwright_outbox" SET "due_at" = ${at(2)}, "dead_at" = ${at(3)}, "last_error" = ${at(4)} WHERE "id" = ${at(1)}`,
        [id, dueAt ?? now, dueAt === null ? now : null, reason],
      );
    },

    redrive(name, now, limit) {
      const named = name === null ? "" : ` AND o."name" = ${at(2)}`;
      const dead = `"opwright_outbox" o WHERE o."dead_at" IS NOT NULL${named} ORDER BY o."dead_at" LIMIT ${limit}`;
      return session.run(
        `UPDATE "opwright_outbox" SET "dead_at" = NULL, "due_at" = ${at(1)}, "attempts" = 0 ` +
          `WHERE ${dialect.isRowOf("o", dead)}`,
        name === null ? [now] : [now, name],
      );
    },

    prune(before, limit) {
      const old = `"opwright_outbox" o WHERE o."dead_at" < ${at(1)} ORDER BY o."dead_at" LIMIT ${limit}`;
      return session.run(`DELETE FROM "opwright_outbox" WHERE ${dialect.isRowOf("o", old)}`, [
        before,
      ]);
    },

    // Each subquery reads a partial index that has only the rows it is about.
    async state(now) {
      const counted = (condition: string, column: string): string =>
        `(SELECT count(*) FROM (SELECT 1 FROM "opwright_outbox" WHERE "dead_at" ${condition} ` +
        `ORDER BY "${column}" LIMIT ${mostCounted}) c)`;
      const [row] = await session.all(
        `SELECT ${counted("IS NULL", "created_at")} AS "pending", ${counted("IS NOT NULL", "dead_at")} AS "dead", ` +
          `(SELECT min("created_at") FROM "opwright_outbox" WHERE "dead_at" IS NULL) AS "oldest"`,
        [],
      );
      const oldest = row?.["oldest"] ?? null;
      return {
        pending: Number(row?.["pending"] ?? 0),
        dead: Number(row?.["dead"] ?? 0),
        lagMillis: oldest === null ? 0 : Math.max(0, now - Number(oldest)),
      };
    },
  };
}

function readClaimed(row: SqlRow): ClaimedEvent {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    payload: String(row["payload"]),
    tenant: String(row["tenant_id"]),
    createdAt: Number(row["created_at"]),
    attempt: Number(row["attempts"]),
  };
}
