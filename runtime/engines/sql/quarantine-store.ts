// Files in quarantine over SQL, shared by all SQL engines.
import type { QuarantinedFile, QuarantineStore } from "../../ports/quarantine.js";
import type { SqlRow, SqlSession } from "./session.js";

const columns = `"id", "place", "tenant", "key", "state", "begun_at", "until"`;

/** The files in quarantine, within one transaction. */
export function sqlQuarantineStore(session: SqlSession): QuarantineStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const found = async (
    rest: string,
    values: readonly (string | number)[],
  ): Promise<readonly QuarantinedFile[]> =>
    (await session.all(`SELECT ${columns} FROM "opwright_quarantine" ${rest}`, values)).map(
      readFile,
    );
  return {
    async expect({ id, place, tenant, key }, { now, dueAt, until }) {
      const places = [1, 2, 3, 4, 5, 6, 7].map(at).join(", ");
      await session.run(
        `INSERT INTO "opwright_quarantine" AS q ` +
          `("id", "place", "tenant", "key", "begun_at", "due_at", "until", "state") ` +
          `VALUES (${places}, 'expected') ON CONFLICT ("id") DO UPDATE SET ` +
          `"until" = CASE WHEN q."until" > excluded."until" THEN q."until" ELSE excluded."until" END`,
        [id, place, tenant, key, now, dueAt, until],
      );
    },

    async find(id) {
      const [file] = await found(`WHERE "id" = ${at(1)}`, [id]);
      return file ?? null;
    },

    async arrive(id, dueAt) {
      const changed = await session.run(
        `UPDATE "opwright_quarantine" SET "state" = 'scanned', "due_at" = ${at(2)} ` +
          `WHERE "id" = ${at(1)} AND "state" = 'expected'`,
        [id, dueAt],
      );
      return changed === 1;
    },

    async decide(id) {
      const changed = await session.run(
        `UPDATE "opwright_quarantine" SET "state" = 'over', "due_at" = "until" ` +
          `WHERE "id" = ${at(1)} AND "state" <> 'over'`,
        [id],
      );
      return changed === 1;
    },

    expected: ({ place, tenant, key }, limit) =>
      found(
        `WHERE "place" = ${at(1)} AND "tenant" = ${at(2)} AND "key" = ${at(3)} AND "state" = 'expected' ` +
          `ORDER BY "id" LIMIT ${at(4)}`,
        [place, tenant, key, limit],
      ),

    due: (now, limit) =>
      found(`WHERE "due_at" <= ${at(1)} ORDER BY "due_at", "id" LIMIT ${at(2)}`, [now, limit]),

    async postpone(id, dueAt) {
      await session.run(
        `UPDATE "opwright_quarantine" SET "due_at" = ${at(2)} WHERE "id" = ${at(1)}`,
        [id, dueAt],
      );
    },

    async forget(id) {
      await session.run(`DELETE FROM "opwright_quarantine" WHERE "id" = ${at(1)}`, [id]);
    },
  };
}

function readFile(row: SqlRow): QuarantinedFile {
  return {
    id: String(row["id"]),
    place: String(row["place"]),
    tenant: String(row["tenant"]),
    key: String(row["key"]),
    state: row["state"] as QuarantinedFile["state"],
    begunAt: Number(row["begun_at"]),
    until: Number(row["until"]),
  };
}
