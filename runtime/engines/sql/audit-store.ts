// The audit trail over SQL, shared by all SQL engines.
import type { AuditEntry, AuditStore } from "../../ports/audit.js";
import { SqlParameters } from "./parameters.js";
import { recordRows } from "./records.js";
import { numberOrNull, textOrNull, type SqlRow, type SqlSession } from "./session.js";

const fields = {
  id: "uuid",
  tenant_id: "text",
  at: "integer",
  operation: "text",
  request_id: "text",
  principal_id: "uuid",
  actor_id: "uuid",
  credential: "text",
  change: "text",
  resource: "text",
  resource_id: "text",
  rev: "integer",
  fields: "text",
  details: "text",
} as const;
const columns = Object.keys(fields).map((name) => `"${name}"`);
const table = `"opwright_audit"`;
/** Entries that one statement adds. */
const addedAtOnce = 1_000;

/** The trail of one transaction. */
export function sqlAuditStore(session: SqlSession): AuditStore {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async add(entries) {
      for (let from = 0; from < entries.length; from += addedAtOnce) {
        const parameters = new SqlParameters(dialect);
        const records = entries.slice(from, from + addedAtOnce).map(rowOf);
        const rows = recordRows(fields, records, dialect, parameters);
        const selected = columns.map((name) => `w.${name}`).join(", ");
        await session.runPipelined(
          `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${selected} FROM ${rows}`,
          parameters.values,
        );
      }
    },

    async positionOf(tenant, id) {
      const [row] = await session.all(
        `SELECT "at" FROM ${table} WHERE "tenant_id" = ${at(1)} AND "id" = ${at(2)}`,
        [tenant, id],
      );
      return row === undefined ? null : { at: Number(row["at"]), id };
    },

    async list(filter, { order, after, limit }) {
      const parameters = new SqlParameters(dialect);
      const conditions: string[] = [];
      const { tenant } = filter;
      if (tenant !== null) conditions.push(`"tenant_id" = ${parameters.add(tenant)}`);
      const equal = {
        operation: filter.operation,
        principal_id: filter.principalId,
        resource: filter.resource,
        resource_id: filter.resourceId,
      };
      for (const [name, value] of Object.entries(equal))
        if (value !== undefined) conditions.push(`"${name}" = ${parameters.add(value)}`);
      const { by } = filter;
      if (by !== undefined)
        conditions.push(
          `("principal_id" = ${parameters.add(by)} OR "actor_id" = ${parameters.add(by)})`,
        );
      if (filter.since !== undefined) conditions.push(`"at" >= ${parameters.add(filter.since)}`);
      if (filter.until !== undefined) conditions.push(`"at" < ${parameters.add(filter.until)}`);
      const [past, direction] =
        order === "newest" ? (["<", "DESC"] as const) : ([">", "ASC"] as const);
      if (after !== null)
        conditions.push(
          `("at", "id") ${past} (${parameters.add(after.at)}, ${parameters.add(after.id)})`,
        );
      const rows = await session.scan(
        `SELECT ${columns.join(", ")} FROM ${table} WHERE ${conditions.join(" AND ")} ` +
          `ORDER BY "at" ${direction}, "id" ${direction} LIMIT ${parameters.add(limit)}`,
        parameters.values,
        { stored: Object.keys(fields) },
      );
      return rows.map(readEntry);
    },

    eraseDetails: (principalId, limit) =>
      session.run(
        `UPDATE ${table} SET "details" = '{}' WHERE "id" IN (SELECT "id" FROM ${table} ` +
          `WHERE ("principal_id" = ${at(1)} OR "actor_id" = ${at(2)}) AND "details" <> '{}' ORDER BY "id" LIMIT ${limit})`,
        [principalId, principalId],
      ),

    async prune(before, limit) {
      const removed = await session.run(
        `DELETE FROM ${table} WHERE "id" IN (SELECT "id" FROM ${table} WHERE "at" < ${at(1)} ` +
          `ORDER BY "at" LIMIT ${limit})`,
        [before],
      );
      return removed === limit;
    },
  };
}

function rowOf(entry: AuditEntry) {
  return {
    id: entry.id,
    tenant_id: entry.tenant,
    at: entry.at,
    operation: entry.operation,
    request_id: entry.requestId,
    principal_id: entry.principalId,
    actor_id: entry.actorId,
    credential: entry.credential,
    change: entry.change,
    resource: entry.resource,
    resource_id: entry.resourceId,
    rev: entry.rev,
    fields: JSON.stringify(entry.fields),
    details: entry.details,
  };
}

function readEntry(row: SqlRow): AuditEntry {
  return {
    id: String(row["id"]),
    tenant: String(row["tenant_id"]),
    at: Number(row["at"]),
    operation: String(row["operation"]),
    requestId: String(row["request_id"]),
    principalId: textOrNull(row["principal_id"]),
    actorId: textOrNull(row["actor_id"]),
    credential: textOrNull(row["credential"]),
    change: String(row["change"]),
    resource: textOrNull(row["resource"]),
    resourceId: textOrNull(row["resource_id"]),
    rev: numberOrNull(row["rev"]),
    // Written by `add`.
    fields: JSON.parse(String(row["fields"])) as readonly string[],
    details: String(row["details"]),
  };
}
