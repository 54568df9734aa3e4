// Updating the document that has the same in members that are unique together, or creating it.
import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { DocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { readListQuery } from "../../query/list-request.js";
import { runHooked, hooksOf, type VerbHooks } from "./hooked.js";
import { withIds } from "./keys.js";
import { checkedPayload, createPayload } from "./payloads.js";
import { renderDocument, renderUpdated } from "./render.js";
import { narrowQuery } from "./scoped.js";
import { expectVisible } from "./visible.js";
import { createDocument, newDocument, patchCurrent, patchDocument } from "./write.js";
import { writerOf } from "./writer.js";

export interface Upserted {
  readonly stored: StoredDocument;
  readonly isNew: boolean;
}

/** The invocation as it creates, and as it updates: scopes may differ. */
export interface UpsertContexts {
  readonly create: ExecutionContext;
  readonly update: ExecutionContext;
}

/** Whether a rule of the document says that these members are unique together. */
export function isUniqueBy(
  { unique = [], numbers = [] }: Pick<DocumentSpec, "unique" | "numbers">,
  by: readonly string[],
): boolean {
  // Nobody knows a number before it is given.
  if (numbers.some(({ member }) => by.includes(member))) return false;
  return unique.some(
    ({ members, where }) =>
      where === undefined && isDeepStrictEqual(members.toSorted(), by.toSorted()),
  );
}

/**
 * Updates the live document that has the same in these members, or creates it. Whoever is as fast
 * and creates it first has it updated. Throws what creating and updating do.
 */
export async function upsertDocument(
  spec: DocumentSpec,
  { create: context, update: updating }: UpsertContexts,
  by: readonly string[],
  payload: unknown,
  hooks: readonly VerbHooks[] = [],
): Promise<Upserted> {
  if (!isUniqueBy(spec, by)) throw new TypeError(`${spec.name} has no unique ${by.join(", ")}`);
  const checked = createPayload(spec, payload);
  const [given = checked] = await withIds(spec, context, [checked]);
  // Its owner, and the members that the service sets, are in no payload.
  const writer = await writerOf(spec, context, "create");
  const { stored: wanted, body } = newDocument(spec, writer, given);
  const values: Readonly<Record<string, unknown>> = {
    ...body,
    owner_id: wanted.ownerId,
    id: wanted.id,
  };
  const key = by.map((member) => [member, values[member] ?? null] as const);
  // Where one of them is null there is no other that has the same.
  const isWhole = key.every(([, value]) => value !== null);
  const find = (): Promise<StoredDocument | undefined> =>
    isWhole ? occupant(spec, updating, Object.fromEntries(key)) : Promise.resolve(undefined);
  const rest = Object.fromEntries(
    Object.entries(given).filter(([member]) => member !== "id" && !by.includes(member)),
  );
  const update = async (found: StoredDocument): Promise<Upserted> => {
    await expectVisible(spec, updating, { row: found, payload: given });
    const change = checkedPayload(rest, spec.validatePatch);
    return { stored: await updateFound(spec, updating, found, change, hooks), isNew: false };
  };
  const first = await find();
  if (first !== undefined) return update(first);
  let faster: StoredDocument | undefined;
  try {
    const stored = await runHooked(
      hooksOf(hooks, "create"),
      context,
      given,
      async (one) => {
        const create = () => createDocument(spec, context, one);
        const made = await create().catch(async (error: unknown) => {
          if (!(error instanceof ServiceError) || error.code !== "unique_violation") throw error;
          faster = await find();
          if (faster !== undefined) throw error;
          // It has gone meanwhile, or is none that may be updated.
          return create();
        });
        return { stored: made, output: () => renderDocument(spec, context, made) };
      },
      (one) => createPayload(spec, one),
    );
    return { stored, isNew: true };
  } catch (error) {
    if (faster === undefined) throw error;
    return update(faster);
  }
}

/** The document with a patch, and the hooks of updating around it. */
function updateFound(
  spec: DocumentSpec,
  context: ExecutionContext,
  found: StoredDocument,
  change: Readonly<Record<string, unknown>>,
  hooks: readonly VerbHooks[],
): Promise<StoredDocument> {
  const { id, rev } = found;
  const input = { id, rev, patch: change };
  return runHooked(
    hooksOf(hooks, "update"),
    context,
    input,
    async ({ patch }) => {
      const { stored, diff } =
        (await patchCurrent(spec, context, found, "any", patch)) ??
        (await patchDocument(spec, context, id, "any", patch));
      return { stored, output: () => renderUpdated(spec, context, stored, diff) };
    },
    ({ patch }) => checkedPayload(patch, spec.validatePatch),
  );
}

/** The live document that has these values, as far as it is within the scope. */
async function occupant(
  spec: DocumentSpec,
  context: ExecutionContext,
  values: object,
): Promise<StoredDocument | undefined> {
  const rules = { fields: spec.scopeFields, mayListDeleted: false, isRaw: false };
  const query = readListQuery({ filters: { $values: values } }, rules);
  const window = { limit: 1, offset: 0, after: undefined };
  const [found] = await context.transaction
    .of(documentStore)
    .select(spec, context.tenant, narrowQuery(spec, context, query), window);
  return found;
}
