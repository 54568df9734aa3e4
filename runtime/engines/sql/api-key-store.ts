// API keys over SQL, shared by all SQL engines.
import type { ApiKey, ApiKeyStore } from "../../ports/api-keys.js";
import { holdCount } from "./capped.js";
import { numberOrNull, textOrNull, type SqlRow, type SqlSession } from "./session.js";
import { readTrust, trustQuery } from "./trust.js";

const columns =
  `"id", "principal_id", "actor_id", "tenant_id", "digest", "prefix", "hint", "label", ` +
  `"scopes", "created_at", "expires_at", "last_used_at"`;

const digestField = { path: "digest", type: "string", isColumn: true } as const;

/** How many surplus keys `limit` removes at a time. */
const atOnce = 1_000;

/** The API-key store of one transaction. */
export function sqlApiKeyStore(session: SqlSession): ApiKeyStore {
  const at = (position: number): string => session.dialect.placeholder(position);
  return {
    async add(key) {
      const places = Array.from({ length: 12 }, (_, index) => at(index + 1)).join(", ");
      const text = `INSERT INTO "opwright_api_keys" (${columns}) VALUES (${places}) ON CONFLICT DO NOTHING`;
      const added = await session.run(text, valuesOf(key));
      return added === 1;
    },

    async limit(principalId, now, most) {
      await holdCount(session, "API keys", principalId);
      const isOver = `("ended_at" IS NOT NULL OR "expires_at" <= ${at(2)})`;
      const older =
        `"opwright_api_keys" k WHERE "principal_id" = ${at(1)} AND ${isOver} ` +
        `ORDER BY "created_at" DESC, "id" DESC LIMIT ${atOnce} OFFSET ${most}`;
      await session.run(
        `DELETE FROM "opwright_api_keys" WHERE ${session.dialect.isRowOf("k", older)}`,
        [principalId, now],
      );
      const [row] = await session.all(
        `SELECT count(*) AS "good" FROM "opwright_api_keys" WHERE "principal_id" = ${at(1)} AND "ended_at" IS NULL ` +
          `AND ("expires_at" IS NULL OR "expires_at" > ${at(2)})`,
        [principalId, now],
      );
      return Number(row?.["good"]);
    },

    async prune(before, limit) {
      let removed = 0;
      for (const end of ["ended_at", "expires_at"]) {
        const over = `"opwright_api_keys" k WHERE k."${end}" < ${at(1)} ORDER BY k."${end}" LIMIT ${limit - removed}`;
        removed += await session.run(
          `DELETE FROM "opwright_api_keys" WHERE ${session.dialect.isRowOf("k", over)}`,
          [before],
        );
      }
      return removed;
    },

    async list(principalId) {
      const rows = await session.all(
        `SELECT ${columns} FROM "opwright_api_keys" WHERE "principal_id" = ${at(1)} AND "ended_at" IS NULL ` +
          `ORDER BY "created_at", "id"`,
        [principalId],
      );
      return rows.map(readKey);
    },

    async revoke(principalId, id, now) {
      const revoked = await session.run(
        `UPDATE "opwright_api_keys" SET "ended_at" = ${at(3)} ` +
          `WHERE "id" = ${at(1)} AND "principal_id" = ${at(2)} AND "ended_at" IS NULL`,
        [id, principalId, now],
      );
      return revoked === 1;
    },

    async trusts(digests, now) {
      const isAmong = `c.${session.dialect.isIn(digestField, at(1))}`;
      const text = trustQuery("opwright_api_keys", isAmong);
      const rows = await session.all(text, [session.dialect.list(digests)]);
      return new Map(
        rows.map((row) => [
          String(row["digest"]),
          {
            ...readTrust(row, now),
            lastUsedAt: numberOrNull(row["last_used_at"]),
            scopes: readScopes(row),
          },
        ]),
      );
    },

    async noteUse(id, now) {
      const text = `UPDATE "opwright_api_keys" SET "last_used_at" = ${at(2)} WHERE "id" = ${at(1)}`;
      await session.runPipelined(text, [id, now]);
    },
  };
}

/** The values of a row, in the order of `columns`. */
function valuesOf(key: ApiKey): readonly (string | number | null)[] {
  return [
    key.id,
    key.principalId,
    key.actorId,
    key.tenant,
    key.digest,
    key.prefix,
    key.hint,
    key.label,
    key.scopes === null ? null : JSON.stringify(key.scopes),
    key.createdAt,
    key.expiresAt,
    key.lastUsedAt,
  ];
}

function readScopes(row: SqlRow): readonly string[] | null {
  const text = textOrNull(row["scopes"] ?? null);
  // Written by `add`.
  return text === null ? null : (JSON.parse(text) as readonly string[]);
}

function readKey(row: SqlRow): ApiKey {
  return {
    id: String(row["id"]),
    principalId: String(row["principal_id"]),
    actorId: textOrNull(row["actor_id"]),
    tenant: textOrNull(row["tenant_id"]),
    digest: String(row["digest"]),
    prefix: String(row["prefix"]),
    hint: String(row["hint"]),
    label: textOrNull(row["label"]),
    scopes: readScopes(row),
    createdAt: Number(row["created_at"]),
    expiresAt: numberOrNull(row["expires_at"]),
    lastUsedAt: numberOrNull(row["last_used_at"]),
  };
}
