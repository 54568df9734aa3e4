// API keys as lines: their digests, so that they go on working.
import { isDeepStrictEqual } from "node:util";
import { differs, refuseLine, type DataSet } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { apiKeyStore, type ApiKey } from "../../ports/api-keys.js";
import { membersOf } from "../../query/list-request.js";
import { addEach, allPrincipals, inOrder, textAt, uuidOf, type LineMembers } from "./data-lines.js";

/** The members of a line, by those of the key. */
const keyMembers = {
  id: "id",
  principalId: "principal_id",
  actorId: "actor_id",
  tenant: "tenant_id",
  digest: "digest",
  prefix: "prefix",
  hint: "hint",
  label: "label",
  scopes: "scopes",
  createdAt: "created_at",
  expiresAt: "expires_at",
  lastUsedAt: "last_used_at",
} as const satisfies Readonly<Record<keyof ApiKey, string>>;

/** The keys of all principals that are not revoked. */
export function apiKeySet(service: ServiceAtWork): DataSet<ApiKey> {
  return {
    name: "api_keys",
    async *lines() {
      for await (const { id } of allPrincipals(service)) {
        const keys = await service.database.reader.of(apiKeyStore).list(id);
        yield* inOrder(keys).map((key) => {
          const told = Object.entries(keyMembers).map(
            ([name, member]) => [member, key[name as keyof ApiKey]] as const,
          );
          return JSON.stringify(Object.fromEntries(told.filter(([, value]) => value !== null)));
        });
      }
    },
    read(value, naming) {
      const line = membersOf(value, "", Object.values(keyMembers));
      const principalId = uuidOf(line, "principal_id");
      naming.expect("accounts", principalId, "/principal_id");
      const actorId = line["actor_id"] === undefined ? null : uuidOf(line, "actor_id");
      if (actorId !== null) naming.expect("accounts", actorId, "/actor_id");
      const tenant = line["tenant_id"] === undefined ? null : textAt(line, "tenant_id");
      if (tenant !== null) naming.expect("tenants", tenant, "/tenant_id");
      return {
        id: uuidOf(line, "id"),
        principalId,
        actorId,
        tenant,
        digest: textAt(line, "digest"),
        prefix: textAt(line, "prefix"),
        hint: textAt(line, "hint"),
        label: line["label"] === undefined ? null : textAt(line, "label"),
        scopes: scopesOf(line["scopes"]),
        createdAt: millisOf(line, "created_at") ?? service.clock.now(),
        expiresAt: millisOf(line, "expires_at"),
        lastUsedAt: millisOf(line, "last_used_at"),
      };
    },
    add: (lines) =>
      addEach(service, lines, async (key, transaction) => {
        const keys = transaction.of(apiKeyStore);
        const theirs = await keys.list(key.principalId);
        const is = theirs.find(({ id }) => id === key.id);
        if (is === undefined) {
          if (await keys.add(key)) return true;
          throw differs(`the API key ${key.id}`);
        }
        if (!isSameKey(is, key)) throw differs(`the API key ${key.id}`);
        return false;
      }),
  };
}

/** Whether two keys are the same but for their use. */
function isSameKey(one: ApiKey, other: ApiKey): boolean {
  return isDeepStrictEqual({ ...one, lastUsedAt: null }, { ...other, lastUsedAt: null });
}

function scopesOf(value: unknown): readonly string[] | null {
  if (value === undefined) return null;
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === "string") : null;
  if (texts === null || texts.length !== (value as readonly unknown[]).length)
    return refuseLine("/scopes", "type", "must be an array of permissions");
  return texts;
}

/** A time in epoch milliseconds; null if there is none. */
function millisOf(members: LineMembers, name: string): number | null {
  const value = members[name];
  if (value === undefined) return null;
  return Number.isSafeInteger(value)
    ? Number(value)
    : refuseLine(`/${name}`, "type", "must be milliseconds since 1970");
}
