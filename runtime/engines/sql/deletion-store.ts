// What deletions have done to other documents over SQL, shared by all SQL engines.
import type { DeletionStore, Involved } from "../../ports/deletions.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { SqlParameters } from "./parameters.js";
import { recordRows } from "./records.js";
import type { SqlRow, SqlSession } from "./session.js";

const fields = {
  place: "integer",
  taken: "text",
  taken_id: "uuid",
  rev: "integer",
  member: "text",
  named: "uuid",
} as const;
const names = Object.keys(fields);
const table = `"opwright_deletions"`;
const key = `"tenant_id", "document", "id"`;

/** What is noted of deletions, within one transaction. */
export function sqlDeletionStore(session: SqlSession): DeletionStore {
  const { dialect } = session;
  const ofOne = `"tenant_id" = ${dialect.placeholder(1)} AND "document" = ${dialect.placeholder(2)} AND "id" = ${dialect.placeholder(3)}`;
  const ofTaken = `"tenant_id" = ${dialect.placeholder(1)} AND "taken" = ${dialect.placeholder(2)} AND "taken_id" = ${dialect.placeholder(3)}`;
  const removal = `DELETE FROM ${table} WHERE ${ofOne}`;
  const keyOf = (spec: AnyDocumentSpec, tenant: string, id: string): readonly string[] => [
    spec.tenant ? tenant : "",
    spec.table,
    id,
  ];
  return {
    async note(spec, tenant, id, involved) {
      await session.run(removal, keyOf(spec, tenant, id));
      const parameters = new SqlParameters(dialect);
      const [owner = "", document = ""] = keyOf(spec, tenant, id);
      const values = [
        dialect.typed("text", parameters.add(owner)),
        dialect.typed("text", parameters.add(document)),
        dialect.typed("uuid", parameters.add(id)),
        ...names.map((name) => `w."${name}"`),
      ];
      const records = involved.map((one, place) => ({
        place,
        taken: one.table,
        taken_id: one.id,
        rev: one.rev,
        member: one.cleared?.member ?? null,
        named: one.cleared?.named ?? null,
      }));
      const columns = names.map((name) => `"${name}"`).join(", ");
      await session.run(
        `INSERT INTO ${table} (${key}, ${columns}) SELECT ${values.join(", ")} ` +
          `FROM ${recordRows(fields, records, dialect, parameters)}`,
        parameters.values,
      );
    },

    async noted(spec, tenant, id) {
      const rows = await session.all(
        `SELECT "taken", "taken_id", "rev", "member", "named" FROM ${table} WHERE ${ofOne} ORDER BY "place"`,
        keyOf(spec, tenant, id),
      );
      return rows.map(readInvolved);
    },

    async list(spec, tenant, after, limit) {
      const parameters = new SqlParameters(dialect);
      const [owner = "", document = ""] = keyOf(spec, tenant, "");
      const of = `"tenant_id" = ${parameters.add(owner)} AND "document" = ${parameters.add(document)}`;
      const behind = after === null ? "" : ` AND "id" > ${parameters.add(after)}`;
      const rows = await session.all(
        `SELECT DISTINCT "id" FROM ${table} WHERE ${of}${behind} ORDER BY "id" LIMIT ${limit}`,
        parameters.values,
      );
      return rows.map((row) => String(row["id"]));
    },

    async forget(spec, tenant, id) {
      await session.run(removal, keyOf(spec, tenant, id));
    },

    async forgetReferences(spec, tenant, id, members) {
      const parameters = new SqlParameters(dialect);
      for (const value of keyOf(spec, tenant, id)) parameters.add(value);
      const named = members.map((member) => parameters.add(member)).join(", ");
      await session.run(
        `DELETE FROM ${table} WHERE ${ofTaken} AND "member" IN (${named})`,
        parameters.values,
      );
    },

    async follow(spec, tenant, id, rev) {
      await session.run(
        `UPDATE ${table} SET "rev" = ${dialect.placeholder(4)} ` +
          `WHERE ${ofTaken} AND "member" IS NULL AND "rev" = ${dialect.placeholder(5)}`,
        [...keyOf(spec, tenant, id), rev, rev - 1],
      );
    },
  };
}

/** Forgets what deletions have noted of documents that are gone for good. */
export async function forgetDeletions(
  session: SqlSession,
  spec: AnyDocumentSpec,
  tenant: string,
  ids: readonly string[],
): Promise<void> {
  const { dialect } = session;
  for (const [type, id] of [
    ["document", "id"],
    ["taken", "taken_id"],
  ]) {
    const parameters = new SqlParameters(dialect);
    const owner = parameters.add(spec.tenant ? tenant : "");
    const of = parameters.add(spec.table);
    const gone = recordRows(
      { key: "uuid" },
      ids.map((key) => ({ key })),
      dialect,
      parameters,
    );
    await session.run(
      `DELETE FROM ${table} WHERE "tenant_id" = ${owner} AND "${type}" = ${of} AND "${id}" IN (SELECT w."key" FROM ${gone})`,
      parameters.values,
    );
  }
}

function readInvolved(row: SqlRow): Involved {
  const { member } = row;
  return {
    table: String(row["taken"]),
    id: String(row["taken_id"]),
    rev: Number(row["rev"]),
    cleared: member === null ? null : { member: String(member), named: String(row["named"]) },
  };
}
