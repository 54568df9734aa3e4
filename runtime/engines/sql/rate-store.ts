// Counts of rate limits over SQL, shared by all SQL engines.
import type { RateStore } from "../../ports/rates.js";
import type { SqlSession } from "./session.js";

/** How long a statement may have waited for a row, in milliseconds, with a margin. */
const waitedMillis = 10_000;

/** The rate store of one transaction. */
export function sqlRateStore(session: SqlSession): RateStore {
  const { now } = session.dialect;
  const at = (position: number): string => session.dialect.placeholder(position);
  const ofKey = `"name" = ${at(1)} AND "key" = ${at(2)}`;
  const endsAt = `"opwright_rates"."ends_at"`;
  // If a window ends much later than a new one would, it began before the engine's clock was set
  // back. A little later is normal: a statement that waited for a row may see a window that began
  // after the statement.
  const isOver = `(${endsAt} <= ${now} OR ${endsAt} > ${now} + ${at(3)} + ${waitedMillis})`;
  return {
    async take(name, key, points, windowMillis) {
      const [row] = await session.all(
        `INSERT INTO "opwright_rates" ("name", "key", "taken", "ends_at") ` +
          `VALUES (${at(1)}, ${at(2)}, 1, ${now} + ${at(3)}) ON CONFLICT ("name", "key") DO UPDATE SET ` +
          `"taken" = CASE WHEN ${isOver} THEN 1 ELSE "opwright_rates"."taken" + 1 END, ` +
          `"ends_at" = CASE WHEN ${isOver} THEN excluded."ends_at" ELSE ${endsAt} END ` +
          `WHERE ${isOver} OR "opwright_rates"."taken" < ${at(4)} RETURNING "taken"`,
        [name, key, windowMillis, points],
      );
      if (row !== undefined) return null;
      const [kept] = await session.all(
        `SELECT "ends_at" - ${now} AS "left" FROM "opwright_rates" WHERE ${ofKey}`,
        [name, key],
      );
      return Number(kept?.["left"] ?? 0);
    },

    async giveBack(name, key) {
      await session.run(
        `UPDATE "opwright_rates" SET "taken" = "taken" - 1 WHERE ${ofKey} AND "taken" > 0 AND "ends_at" > ${now}`,
        [name, key],
      );
    },

    async forget(name, key) {
      await session.run(`DELETE FROM "opwright_rates" WHERE ${ofKey}`, [name, key]);
    },

    prune: (limit) =>
      // The condition stands twice, because a window may begin anew after its row was selected and
      // before it is deleted.
      session.run(
        `DELETE FROM "opwright_rates" WHERE "ends_at" <= ${now} AND ("name", "key") IN ` +
          `(SELECT "name", "key" FROM "opwright_rates" WHERE "ends_at" <= ${now} LIMIT ${at(1)})`,
        [limit],
      ),
  };
}
