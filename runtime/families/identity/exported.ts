// What is kept of somebody, for themselves and for administrators (decisions.md "Export of a
// person").
import { invitationStore } from "../../ports/invitations.js";
import { defaultTenant } from "../../contract/default-tenant.js";
import { fail } from "../../contract/errors.js";
import type { ByteReply } from "../../operations/byte-reply.js";
import { linesReply } from "../../operations/lines-reply.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ExportedLine, ExportedPerson } from "../../operations/exported.js";
import { readPiece } from "../../operations/read-piece.js";
import { sessionOf } from "../../operations/identity.js";
import type { Handler } from "../../operations/operation.js";
import { apiKeyStore } from "../../ports/api-keys.js";
import { identityStore } from "../../ports/identity.js";
import { tenantStore } from "../../ports/tenants.js";
import { apiKeyEntry } from "./api-keys.js";
import { unchanged } from "./grants.js";
import type { IdentitySpec } from "./spec.js";

/** Handlers of exports: a line of JSON for each thing, sent as they are read. */
export const personExport = {
  /** Of the caller. */
  own:
    (spec: IdentitySpec): Handler<Readonly<Record<never, never>>, ByteReply> =>
    (_input, context) =>
      exportReply(spec, context, sessionOf(context).principalId),

  /** Of a principal. Throws `core.not_found`. */
  of:
    (spec: IdentitySpec): Handler<{ readonly id: string }, ByteReply> =>
    ({ id }, context) =>
      exportReply(spec, context, id),
};

async function exportReply(
  spec: IdentitySpec,
  context: ExecutionContext,
  principalId: string,
): Promise<ByteReply> {
  const { transaction } = context;
  const known = await transaction.of(identityStore).findPrincipal(principalId);
  if (known === null) throw fail("core.not_found");
  const joined = await transaction.of(tenantStore).listMemberships(principalId);
  const tenants = joined.map(({ id }) => id);
  const places = [...tenants, defaultTenant];
  const who: ExportedPerson = { principalId, login: known.login, tenants, places };
  const told = (await spec.exportsAlso?.(who, context)) ?? [];
  return linesReply("person.jsonl", allOf(context, who, told));
}

async function* allOf(
  context: ExecutionContext,
  who: ExportedPerson,
  told: readonly ExportedLine[],
): AsyncGenerator<ExportedLine> {
  yield* context.resources.exported(context, who);
  // Of what an author tells, this is a line.
  for (const { kind, tenant_id: tenant, data } of told)
    yield { kind, ...(tenant === undefined ? {} : { tenant_id: tenant }), data };
}

/** The account of somebody, with what belongs to it. */
export async function* exportAccount(
  { former = unchanged, members }: IdentitySpec,
  context: ExecutionContext,
  { principalId, login: address, tenants }: ExportedPerson,
): AsyncGenerator<ExportedLine> {
  const identities = readPiece(context).of(identityStore);
  const account = await identities.findPrincipal(principalId);
  if (account === null) return;
  const { login, isActive, passwordHash } = account;
  const of = { principal_id: principalId, login, is_active: isActive };
  yield { kind: "account", data: { ...of, has_password: passwordHash !== "" } };
  for (const { id, tenant, actorId, createdAt } of await identities.listSessions(principalId))
    yield {
      kind: "session",
      ...(tenant === null ? {} : { tenant_id: tenant }),
      data: { id, actor_id: actorId, created_at: new Date(createdAt).toISOString() },
    };
  for (const key of await readPiece(context).of(apiKeyStore).list(principalId))
    yield {
      kind: "api_key",
      ...(key.tenant === null ? {} : { tenant_id: key.tenant }),
      data: apiKeyEntry(former, key),
    };
  for (const subject of await identities.listSubjects(principalId))
    yield { kind: "subject", data: subject };
  const now = context.clock.now();
  const invitations =
    members === undefined ? [] : await readPiece(context).of(invitationStore).listTo(address, now);
  for (const { tenant, roles, createdAt } of invitations)
    yield {
      kind: "invitation",
      tenant_id: tenant,
      data: { roles, created_at: new Date(createdAt).toISOString() },
    };
  const grants = async (tenant: string | null): Promise<readonly string[]> =>
    readPiece(context).of(tenantStore).listGrants(tenant, principalId);
  const everywhere = await grants(null);
  if (everywhere.length > 0) yield { kind: "permissions", data: { granted: everywhere } };
  for (const tenant of tenants)
    yield { kind: "membership", tenant_id: tenant, data: { granted: await grants(tenant) } };
}
