// Keys: a field by whose value callers name a document in place of its id, in paths and in
// references (registry "key").
import type { ValidationFault } from "../../contract/validation.js";
import { isUuid, nilUuid } from "../../contract/uuid.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { PhaseHook } from "../../operations/hooks.js";
import type { AnyDocumentSpec, DocumentSpec } from "../../ports/document-spec.js";
import { documentStore } from "../../ports/documents.js";
import { uuidv7 } from "../../ports/uuid.js";
import { idField } from "../../query/fields.js";

type Body = Readonly<Record<string, unknown>>;

const byId = { field: idField, direction: "asc", nulls: "first" } as const;

/**
 * Puts the id of the document in place of its key in an input. Of a key that no document has, an id
 * that none has, so that the operation itself says what it says of such: nobody learns by this step
 * what the guard behind it would not tell.
 */
export function byKey(spec: DocumentSpec): PhaseHook<"before", { id: string }, never> {
  return {
    phase: "before",
    async run(input, context) {
      if (isUuid(input.id)) input.id = input.id.toLowerCase();
      else input.id = (await findIds(spec, context, [input.id])).get(input.id) ?? nilUuid;
    },
  };
}

/**
 * Payloads with ids in place of keys, in members that name documents with one. In place of a key
 * that no document has, they have an id that none has: whoever holds references reports it.
 */
export async function withIds<Payload extends Body | null>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  payloads: readonly Payload[],
): Promise<readonly Payload[]> {
  let named = payloads;
  for (const [member, targetOf] of Object.entries(spec.references ?? {})) {
    const target = targetOf();
    if (target.key === undefined) continue;
    const keys = new Set(named.flatMap((payload) => keysIn(payload?.[member])));
    if (keys.size === 0) continue;
    const ids = await findIds(target, context, [...keys]);
    const idOf = (value: unknown): unknown =>
      keysIn(value).length === 0 ? value : (ids.get(String(value)) ?? uuidv7());
    named = named.map((payload) => {
      const value = payload?.[member];
      if (keysIn(value).length === 0) return payload;
      return { ...payload, [member]: Array.isArray(value) ? value.map(idOf) : idOf(value) };
    });
  }
  return named;
}

/**
 * What is wrong with a key that was written: a UUID would be taken for an id, and nothing or dots
 * have no place in a path.
 */
export function keyFaults(
  { key }: AnyDocumentSpec,
  body: Body,
  before: Body = {},
): readonly ValidationFault[] {
  const value = key === undefined ? undefined : body[key];
  if (key === undefined || typeof value !== "string" || value === before[key]) return [];
  const what = ["", ".", ".."].includes(value) ? JSON.stringify(value) : "a UUID";
  const isFree = what === "a UUID" && !isUuid(value);
  return isFree ? [] : [{ path: `/${key}`, keyword: "key", message: `must not be ${what}` }];
}

/** The keys among what a member names. */
function keysIn(value: unknown): readonly string[] {
  return [value].flat().filter((one) => typeof one === "string" && !isUuid(one)) as string[];
}

/** The ids of documents by their keys, deleted ones too, whoever may see them. */
async function findIds(
  spec: DocumentSpec,
  context: ExecutionContext,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { key = "" } = spec;
  const field = spec.scopeFields.find(key);
  if (field === undefined) throw new TypeError(`${spec.name} have no key`);
  const filter = { kind: "in", field, isNegated: false, values: keys } as const;
  const query = { filter, sorts: [byId], withDeleted: true };
  const window = { limit: keys.length, offset: 0, after: undefined };
  const found = await context.transaction
    .of(documentStore)
    .select(spec, context.tenant, query, window);
  return new Map(found.map(({ id, body }) => [String((JSON.parse(body) as Body)[key]), id]));
}
