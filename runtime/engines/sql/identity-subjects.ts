// Subjects of other issuers over SQL, and the check of principals who come without a session or API
// key of the service.
import type { IdentityStore } from "../../ports/identity.js";
import { principalColumns, readPrincipal } from "./principal-row.js";
import type { SqlSession } from "./session.js";
import { readTrust } from "./trust.js";
import { epochMillis } from "../../ports/ambient.js";

/** The methods of the identity store that deal with subjects, within one transaction. */
export function sqlIdentitySubjects(
  session: SqlSession,
): Pick<IdentityStore, "addSubject" | "findSubject" | "listSubjects" | "dropSubject" | "standing"> {
  const at = (position: number): string => session.dialect.placeholder(position);
  const ofSubject = (issuer: string, subject: string): string =>
    `(SELECT "principal_id" FROM "opwright_subjects" WHERE "issuer" = ${issuer} AND "subject" = ${subject})`;

  return {
    async addSubject({ issuer, subject }, principalId) {
      const added = await session.run(
        `INSERT INTO "opwright_subjects" ("issuer", "subject", "principal_id") VALUES (${at(1)}, ${at(2)}, ${at(3)}) ` +
          `ON CONFLICT ("issuer", "subject") DO NOTHING`,
        [issuer, subject, principalId],
      );
      return added === 1;
    },

    async findSubject({ issuer, subject }) {
      const [row] = await session.all(
        `SELECT ${principalColumns} FROM "opwright_principals" WHERE "id" = ${ofSubject(at(1), at(2))}`,
        [issuer, subject],
      );
      return readPrincipal(row);
    },

    async listSubjects(principalId) {
      const text = `SELECT "issuer", "subject" FROM "opwright_subjects" WHERE "principal_id" = ${at(1)} ORDER BY "issuer", "subject"`;
      const rows = await session.all(text, [principalId]);
      return rows.map((row) => ({
        issuer: String(row["issuer"]),
        subject: String(row["subject"]),
      }));
    },

    async dropSubject({ issuer, subject }) {
      const text = `DELETE FROM "opwright_subjects" WHERE "issuer" = ${at(1)} AND "subject" = ${at(2)}`;
      return (await session.run(text, [issuer, subject])) === 1;
    },

    async standing(of, actorId, tenant) {
      const isSubject = "subject" in of;
      const [row] = await session.all(
        `SELECT p."id", p."is_active" AS "principal_is_active", a."is_active" AS "actor_is_active", ` +
          `t."is_active" AS "tenant_is_active", m."principal_id" AS "member", am."principal_id" AS "actor_member" ` +
          `FROM "opwright_principals" p LEFT JOIN "opwright_principals" a ON a."id" = ${at(2)} ` +
          `LEFT JOIN "opwright_tenants" t ON t."id" = ${at(1)} ` +
          `LEFT JOIN "opwright_memberships" m ON m."tenant_id" = ${at(1)} AND m."principal_id" = p."id" ` +
          `LEFT JOIN "opwright_memberships" am ON am."tenant_id" = ${at(1)} AND am."principal_id" = ${at(2)} ` +
          `WHERE p."id" = ${isSubject ? ofSubject(at(3), at(4)) : at(3)}`,
        [tenant, actorId, ...(isSubject ? [of.issuer, of.subject] : [of.principalId])],
      );
      if (row === undefined) return null;
      const named = { principal_id: row["id"] ?? null, actor_id: actorId, tenant_id: tenant };
      return readTrust({ ...row, ...named, ended_at: null }, epochMillis());
    },
  };
}
