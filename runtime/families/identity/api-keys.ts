// The API-key operations that generated routes name (service.md "API-key management").
import { fail } from "../../contract/errors.js";
import { canonicalIds } from "../../operations/canonical-ids.js";
import { heldSession, holdPrincipals } from "../../operations/held-session.js";
import { sessionOf } from "../../operations/identity.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Handler } from "../../operations/operation.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { ApiKey } from "../../ports/api-keys.js";
import { digestOf, hintOf, newApiKey } from "./api-key.js";
import type { Authorization } from "./authorization.js";
import {
  presentPermission,
  storedPermission,
  type FormerPermissions,
} from "./former-permissions.js";
import { unchanged } from "./grants.js";
import type { IdentitySpec } from "./spec.js";
import { identityStore } from "../../ports/identity.js";
import { tenantStore } from "../../ports/tenants.js";
import { apiKeyStore } from "../../ports/api-keys.js";

interface IssueRequest {
  readonly label?: string;
  /** Who acts with the key for the caller. */
  readonly actor_principal_id?: string;
  /** Permissions of the caller's that the key is for; all where left out. */
  readonly scopes?: readonly string[];
  /** Seconds. */
  readonly expires_in?: number;
}

/**
 * How many valid keys a principal may have; as many revoked and expired ones are kept for a day.
 */
const maxKeys = 100;

/** A key without its secret. */
export interface ApiKeyEntry {
  readonly key_id: string;
  readonly prefix: string;
  readonly hint: string;
  readonly label: string | null;
  readonly actor_principal_id?: string;
  readonly scopes?: readonly string[];
  readonly created_at: string;
  readonly expires_at?: string;
  readonly last_used_at?: string;
}

/** The answer of issue: the only place where the secret is ever seen. */
export interface IssuedApiKey {
  readonly api_key: string;
  readonly key_id: string;
  readonly prefix: string;
  readonly hint: string;
  readonly label?: string;
  readonly scopes?: readonly string[];
  readonly expires_at?: string;
}

/** Handlers of API keys. A key has the tenant that the calling session is scoped to. */
export const apiKeys = {
  /**
   * Throws `core.not_found` for an actor that doesn't exist, is inactive or isn't a member of the
   * tenant, `core.authorization` for a scope that the caller hasn't got itself, and
   * `api_keys_limit` for a caller who has as many keys as one may have.
   */
  issue:
    (spec: IdentitySpec, may: Authorization["may"]): Handler<IssueRequest, IssuedApiKey> =>
    async (given, context) => {
      const {
        label,
        actor_principal_id: actorId,
        expires_in: seconds,
        scopes,
      } = canonicalIds(given);
      const { principalId } = sessionOf(context);
      await holdPrincipals(context, [principalId, actorId ?? principalId]);
      const caller = await heldSession(context);
      if (actorId !== undefined) await checkActor(context, actorId, caller.tenant);
      for (const scope of scopes ?? [])
        if (!(await may(scope, context))) throw fail("core.authorization", { missing: scope });
      const createdAt = context.clock.now();
      const { former = unchanged } = spec;
      const keys = context.transaction.of(apiKeyStore);
      if ((await keys.limit(caller.principalId, createdAt, maxKeys)) >= maxKeys)
        throw fail("api_keys_limit", { most: maxKeys });
      const secret = newApiKey(spec.issuer, scopes !== undefined);
      const key: ApiKey = {
        id: uuidv7(),
        principalId: caller.principalId,
        actorId: actorId ?? null,
        tenant: caller.tenant,
        digest: digestOf(spec.issuer, secret) ?? "",
        prefix: spec.issuer,
        hint: hintOf(spec.issuer, secret),
        label: label ?? null,
        scopes: scopes?.map((one) => storedPermission(former, one)) ?? null,
        createdAt,
        expiresAt: seconds === undefined ? null : createdAt + seconds * 1000,
        lastUsedAt: null,
      };
      if (!(await keys.add(key))) throw fail("core.internal");
      context.note({ key_id: key.id });
      return {
        api_key: secret,
        key_id: key.id,
        prefix: key.prefix,
        hint: key.hint,
        ...(label === undefined ? {} : { label }),
        ...(scopes === undefined ? {} : { scopes }),
        ...timeMember("expires_at", key.expiresAt),
      };
    },

  /** The caller's valid keys, oldest first. */
  list:
    ({
      former = unchanged,
    }: IdentitySpec): Handler<
      Readonly<Record<never, never>>,
      { readonly keys: readonly ApiKeyEntry[] }
    > =>
    async (_input, context) => {
      const keys = await context.transaction.of(apiKeyStore).list(sessionOf(context).principalId);
      const now = context.clock.now();
      const good = keys.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
      return { keys: good.map((key) => apiKeyEntry(former, key)) };
    },

  /** Throws `core.not_found` for a key that is revoked, unknown or somebody else's, all alike. */
  revoke:
    (): Handler<{ readonly id: string }, void> =>
    async ({ id }, context) => {
      const { principalId } = sessionOf(context);
      if (!(await context.transaction.of(apiKeyStore).revoke(principalId, id, context.clock.now())))
        throw fail("core.not_found");
      context.endsCredentials({ principalId });
    },
};

async function checkActor(
  { transaction }: ExecutionContext,
  actorId: string,
  tenant: string | null,
): Promise<void> {
  const actor = await transaction.of(identityStore).findPrincipal(actorId);
  const isMember = tenant === null || (await transaction.of(tenantStore).isMember(tenant, actorId));
  if (actor?.isActive !== true || !isMember) throw fail("core.not_found");
}

/** Tells of a key without its secret, under the present names of its scopes. */
export function apiKeyEntry(former: FormerPermissions, key: ApiKey): ApiKeyEntry {
  return {
    key_id: key.id,
    prefix: key.prefix,
    hint: key.hint,
    label: key.label,
    ...(key.actorId === null ? {} : { actor_principal_id: key.actorId }),
    ...(key.scopes === null
      ? {}
      : { scopes: key.scopes.map((one) => presentPermission(former, one)) }),
    created_at: new Date(key.createdAt).toISOString(),
    ...timeMember("expires_at", key.expiresAt),
    ...timeMember("last_used_at", key.lastUsedAt),
  };
}

/** A member with a time in RFC 3339, or nothing. */
function timeMember<Name extends string>(
  name: Name,
  millis: number | null,
): { readonly [N in Name]?: string } {
  return millis === null
    ? {}
    : ({ [name]: new Date(millis).toISOString() } as Record<Name, string>);
}
