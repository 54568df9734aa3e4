// Leases over SQL, shared by all SQL engines.
import type { LeaseStore } from "../../ports/leases.js";
import { textOrNull, type SqlSession } from "./session.js";

/** The longest time that a lease is held for, in milliseconds. */
const longestMillis = 24 * 60 * 60 * 1_000;

/** The lease store of one transaction. */
export function sqlLeaseStore(session: SqlSession): LeaseStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  return {
    async take(name, holder, now, until) {
      const [row] = await session.all(
        `INSERT INTO "opwright_leases" ("name", "holder", "until") VALUES (${at(1)}, ${at(2)}, ${at(4)}) ` +
          `ON CONFLICT ("name") DO UPDATE SET "holder" = excluded."holder", "until" = excluded."until" ` +
          `WHERE "opwright_leases"."until" <= ${at(3)} OR "opwright_leases"."holder" = excluded."holder" ` +
          // A lease that ends later than any can was taken by a process whose clock was ahead.
          `OR "opwright_leases"."until" > ${at(3)} + ${longestMillis} ` +
          `RETURNING "state"`,
        [name, holder, now, until],
      );
      return row === undefined ? null : { state: textOrNull(row["state"]) };
    },

    async note(name, holder, state) {
      const noted = await session.run(
        `UPDATE "opwright_leases" SET "state" = ${at(3)} WHERE "name" = ${at(1)} AND "holder" = ${at(2)}`,
        [name, holder, state],
      );
      return noted === 1;
    },

    async held(prefix, now) {
      const rows = await session.all(
        `SELECT "name", "state" FROM "opwright_leases" WHERE ${begins(at(1))} AND "until" > ${at(2)} ORDER BY "name"`,
        [prefix, now],
      );
      return rows.map((row) => ({ name: String(row["name"]), state: textOrNull(row["state"]) }));
    },

    async drop(name, holder) {
      await session.run(
        `DELETE FROM "opwright_leases" WHERE "name" = ${at(1)} AND "holder" = ${at(2)}`,
        [name, holder],
      );
    },

    async prune(prefix, before) {
      await session.run(
        `DELETE FROM "opwright_leases" WHERE ${begins(at(1))} AND "until" < ${at(2)}`,
        [prefix, before],
      );
    },
  };
}

/**
 * The condition that a name begins with the text in a placeholder. A range would depend on how the
 * database orders text.
 */
function begins(placeholder: string): string {
  const prefix = `CAST(${placeholder} AS text)`;
  return `substr("name", 1, length(${prefix})) = ${prefix}`;
}
