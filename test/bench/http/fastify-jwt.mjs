// Fastify 5 with @fastify/jwt, asking PostgreSQL about the session of each token as opwright does.
import jwt from "@fastify/jwt";
import Fastify from "fastify";
import pg from "pg";
import { findTask } from "./work.mjs";

/** The same question in the same words: session, principal, tenant, membership, of subject and actor. */
const trust = {
  name: "trust",
  text:
    `SELECT c.*, p."is_active" AS "principal_is_active", a."is_active" AS "actor_is_active", ` +
    `t."is_active" AS "tenant_is_active", m."principal_id" AS "member", am."principal_id" AS "actor_member" ` +
    `FROM "opwright_sessions" c JOIN "opwright_principals" p ON p."id" = c."principal_id" ` +
    `LEFT JOIN "opwright_principals" a ON a."id" = c."actor_id" ` +
    `LEFT JOIN "opwright_tenants" t ON t."id" = c."tenant_id" ` +
    `LEFT JOIN "opwright_memberships" m ON m."tenant_id" = c."tenant_id" AND m."principal_id" = c."principal_id" ` +
    `LEFT JOIN "opwright_memberships" am ON am."tenant_id" = c."tenant_id" AND am."principal_id" = c."actor_id" ` +
    `WHERE c."id" = $1`,
};

const app = Fastify({ logger: false });
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await app.register(jwt, {
  secret: Buffer.from(process.env.SECRETS_ACCESS_TOKEN, "base64url"),
  verify: { cache: true, allowedIss: "bench", allowedAud: "bench" },
});

const trusted = async (request, reply) => {
  try {
    const { sid, sub } = await request.jwtVerify();
    const { rows } = await pool.query({ ...trust, values: [sid] });
    const [row] = rows;
    const isLive = row !== undefined && row.ended_at === null && row.principal_is_active;
    if (!isLive || row.principal_id !== sub) reply.code(401).send({});
  } catch {
    reply.code(401).send({});
  }
};

const find = (request, reply) => findTask(request.params.id) ?? reply.code(404).send({});
app.get("/open/:id", find);
app.get("/guarded/:id", { onRequest: trusted }, find);
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
