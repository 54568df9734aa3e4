// The outbox over SQL, shared by all SQL engines. Delivered events leave no row behind; payloads
// arrive sealed.
import type { OutboxStore } from "../../ports/outbox.js";
import { sqlOutboxLists } from "./outbox-lists.js";
import { sqlOutboxQueue } from "./outbox-queue.js";
import type { SqlSession } from "./session.js";

/** How many events `state` counts at most. */
const mostCounted = 10_000;

/** The outbox store of one transaction. */
export function sqlOutboxStore(session: SqlSession): OutboxStore {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async add({ id, name, payload, shape, traceparent, tenant, createdAt }) {
      await session.runPipelined(
        `INSERT INTO "opwright_outbox" ("id", "name", "payload", "tenant_id", "created_at", "due_at", "attempts", "shape", "traceparent") ` +
          `VALUES (${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(at).join(", ")})`,
        [id, name, payload, tenant, createdAt, createdAt, 0, shape, traceparent],
      );
    },

    ...sqlOutboxQueue(session),
    ...sqlOutboxLists(session),

    async remove(id) {
      const removed = await session.run(`DELETE FROM "opwright_outbox" WHERE "id" = ${at(1)}`, [
        id,
      ]);
      return removed === 1;
    },

    async fail({ id, attempt }, dueAt, now, reason) {
      const changed = await session.run(
        `UPDATE "opwright_outbox" SET "due_at" = ${at(2)}, "dead_at" = ${at(3)}, "last_error" = ${at(4)} ` +
          `WHERE "id" = ${at(1)} AND "attempts" = ${at(5)} AND "dead_at" IS NULL`,
        [id, dueAt ?? now, dueAt === null ? now : null, reason, attempt],
      );
      return changed === 1;
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
