// Idempotency records over SQL, shared by all SQL engines.
import type { IdempotencyStore } from "../../ports/idempotency.js";
import { textOrNull, type SqlSession } from "./session.js";

/** The idempotency store of one write transaction. */
export function sqlIdempotencyStore(session: SqlSession): IdempotencyStore {
  const at = (position: number) => session.dialect.placeholder(position);
  return {
    async find(scope, now) {
      const [row] = await session.all(
        `SELECT "fingerprint", "status", "body", "etag", "expires_at", "shape" FROM "opwright_idempotency" ` +
          `WHERE "scope" = ${at(1)} AND "expires_at" > ${at(2)}`,
        [scope, now],
      );
      if (row === undefined) return null;
      return {
        scope,
        fingerprint: String(row["fingerprint"]),
        status: Number(row["status"]),
        body: textOrNull(row["body"]),
        shape: textOrNull(row["shape"]),
        etag: textOrNull(row["etag"]),
        expiresAt: Number(row["expires_at"]),
      };
    },

    async save(record) {
      await session.runPipelined(
        `INSERT INTO "opwright_idempotency" ("scope", "fingerprint", "status", "body", "etag", "expires_at", "shape") ` +
          `VALUES (${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}, ${at(5)}, ${at(6)}, ${at(7)}) ` +
          `ON CONFLICT ("scope") DO UPDATE SET "fingerprint" = excluded."fingerprint", "status" = excluded."status", ` +
          `"body" = excluded."body", "etag" = excluded."etag", "expires_at" = excluded."expires_at", "shape" = excluded."shape"`,
        [
          record.scope,
          record.fingerprint,
          record.status,
          record.body,
          record.etag,
          record.expiresAt,
          record.shape,
        ],
      );
    },

    async prune(now, limit) {
      const expired = `"opwright_idempotency" r WHERE r."expires_at" <= ${at(1)} ORDER BY r."expires_at" LIMIT ${limit}`;
      return session.run(
        `DELETE FROM "opwright_idempotency" WHERE ${session.dialect.isRowOf("r", expired)}`,
        [now],
      );
    },
  };
}
