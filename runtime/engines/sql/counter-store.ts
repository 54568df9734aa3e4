// The counters of one transaction, shared by all SQL engines.
import type { CounterStore } from "../../ports/counters.js";
import type { SqlSession } from "./session.js";

/** The counter store of one transaction. */
export function sqlCounterStore(session: SqlSession): CounterStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const value = `"opwright_counters"."value"`;
  const text =
    `INSERT INTO "opwright_counters" ("name", "tenant_id", "key", "value") VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}) ` +
    // A start that was declared later counts as well.
    `ON CONFLICT ("name", "tenant_id", "key") DO UPDATE SET "value" = ` +
    `CASE WHEN ${value} + ${at(5)} > excluded."value" THEN ${value} + ${at(5)} ELSE excluded."value" END ` +
    `RETURNING "value"`;
  return {
    async take({ name, tenant, key }, count, start) {
      const [row] = await session.all(text, [name, tenant, key, start + count - 1, count]);
      return Number(row?.["value"]) - count + 1;
    },

    async list(name) {
      const rows = await session.all(
        `SELECT "tenant_id", "key", "value" FROM "opwright_counters" WHERE "name" = ${at(1)}`,
        [name],
      );
      return rows.map((row) => ({
        name,
        tenant: String(row["tenant_id"]),
        key: String(row["key"]),
        last: Number(row["value"]),
      }));
    },
  };
}
