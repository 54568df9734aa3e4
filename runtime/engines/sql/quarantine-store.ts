// Files in quarantine over SQL, shared by all SQL engines.
import type { QuarantinedFile, QuarantineStore, ReleasedBeside } from "../../ports/quarantine.js";
import { textOrNull, type SqlRow, type SqlSession } from "./session.js";

const columns = `"id", "place", "tenant", "key", "state", "bytes", "begun_at", "until", "arrived"`;

type Find = (
  rest: string,
  values: readonly (string | number)[],
) => Promise<readonly QuarantinedFile[]>;

/** The files in quarantine, within one transaction. */
export function sqlQuarantineStore(session: SqlSession): QuarantineStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  const found: Find = async (rest, values) =>
    (await session.all(`SELECT ${columns} FROM "opwright_quarantine" ${rest}`, values)).map(
      readFile,
    );
  const change = async (rest: string, values: readonly (string | number)[]): Promise<boolean> =>
    (await session.run(`UPDATE "opwright_quarantine" SET ${rest}`, values)) === 1;
  return {
    async expect({ id, place, tenant, key }, { now, dueAt, until }) {
      const places = [1, 2, 3, 4, 5, 6, 7].map(at).join(", ");
      const added = await session.run(
        `INSERT INTO "opwright_quarantine" ` +
          `("id", "place", "tenant", "key", "begun_at", "due_at", "until", "state") ` +
          `VALUES (${places}, 'expected') ON CONFLICT ("id") DO NOTHING`,
        [id, place, tenant, key, now, dueAt, until],
      );
      return added === 1;
    },

    async find(id) {
      const [file] = await found(`WHERE "id" = ${at(1)}`, [id]);
      return file ?? null;
    },

    arrive: (id, bytes, dueAt) =>
      change(
        `"state" = 'scanned', "bytes" = ${at(2)}, "due_at" = ${at(3)}, ` +
          `"arrived" = (SELECT COALESCE(MAX(o."arrived"), 0) + 1 FROM "opwright_quarantine" o ` +
          `WHERE o."place" = "opwright_quarantine"."place" ` +
          `AND o."tenant" = "opwright_quarantine"."tenant" AND o."key" = "opwright_quarantine"."key") ` +
          `WHERE "id" = ${at(1)} AND "state" = 'expected'`,
        [id, bytes, dueAt],
      ),

    release: (id, dueAt) =>
      change(
        `"state" = 'released', "due_at" = ${at(2)} WHERE "id" = ${at(1)} AND "state" = 'scanned'`,
        [id, dueAt],
      ),

    reject: (id) =>
      change(
        `"state" = 'over', "due_at" = "until" ` +
          `WHERE "id" = ${at(1)} AND "state" IN ('expected', 'scanned')`,
        [id],
      ),

    async finish(id) {
      await change(
        `"state" = 'done', "due_at" = "until" WHERE "id" = ${at(1)} AND "state" = 'released'`,
        [id],
      );
    },

    beside: (file) => besideOf(found, at, file),

    expected: ({ place, tenant, key }, limit) =>
      found(
        `WHERE "place" = ${at(1)} AND "tenant" = ${at(2)} AND "key" = ${at(3)} AND "state" = 'expected' ` +
          `ORDER BY "begun_at" DESC LIMIT ${at(4)}`,
        [place, tenant, key, limit],
      ),

    due: (now, limit) =>
      found(`WHERE "due_at" <= ${at(1)} ORDER BY "due_at", "id" LIMIT ${at(2)}`, [now, limit]),

    async postpone(id, dueAt) {
      await change(`"due_at" = ${at(2)} WHERE "id" = ${at(1)}`, [id, dueAt]);
    },

    async forget(id) {
      await session.run(`DELETE FROM "opwright_quarantine" WHERE "id" = ${at(1)}`, [id]);
    },
  };
}

async function besideOf(
  find: Find,
  at: (position: number) => string,
  { id, place, tenant, key, arrived }: QuarantinedFile,
): Promise<ReleasedBeside> {
  const one = (states: string, order: "<" | ">"): Promise<readonly QuarantinedFile[]> =>
    find(
      `WHERE "place" = ${at(1)} AND "tenant" = ${at(2)} AND "key" = ${at(3)} ` +
        `AND ("arrived" ${order} ${at(4)} OR ("arrived" = ${at(4)} AND "id" ${order} ${at(5)})) ` +
        `AND "state" IN (${states}) ORDER BY "arrived", "id" LIMIT 1`,
      [place, tenant, key, arrived ?? 0, id],
    );
  const earlier = await one("'released'", "<");
  const later = await one("'released', 'done'", ">");
  const [next = null] = await one("'released'", ">");
  return { isHeldUp: earlier.length > 0, isOutdated: later.length > 0, next };
}

function readFile(row: SqlRow): QuarantinedFile {
  return {
    id: String(row["id"]),
    place: String(row["place"]),
    tenant: String(row["tenant"]),
    key: String(row["key"]),
    state: row["state"] as QuarantinedFile["state"],
    bytes: textOrNull(row["bytes"] ?? null),
    begunAt: Number(row["begun_at"]),
    until: Number(row["until"]),
    arrived: row["arrived"] === null ? null : Number(row["arrived"]),
  };
}
