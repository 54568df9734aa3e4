// Many writes in one transaction: together where nothing stands against it, else one by one, with
// the answers of single calls.
import { fail, ServiceError, toEnvelope } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ExpectedRevision } from "../../operations/input.js";
import type { AnyDocumentSpec, DocumentSpec, Emission } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { everything } from "../../query/ast.js";
import { limits } from "../../contract/limits.js";
import { narrowToReferable } from "./access.js";
import { followChange } from "./follow-change.js";
import { runHooked, hooksOf, type VerbHooks } from "./hooked.js";
import { withIds } from "./keys.js";
import { namesGained, namesIn } from "./names.js";
import { checkedPayload, createPayload } from "./payloads.js";
import { unlessInvalid, unlessRefused } from "./refused.js";
import { renderDocument, renderUpdated } from "./render.js";
import { nextRevision, timeOf } from "./revision.js";
import {
  createDocument,
  killDocument,
  markDocument,
  newDocument,
  patchDocument,
  patchedBody,
} from "./write.js";
import {
  holdChanged,
  holdTogether,
  insertTogether,
  removeTogether,
  replaceTogether,
} from "./together.js";
import { checkInitial, movable } from "./states.js";
import { expectVisible, writable } from "./visible.js";
import { writerOf } from "./writer.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * What became of one item: the document as it is now, or as it was before it was removed for good.
 */
export type ItemOutcome = { readonly stored: StoredDocument } | { readonly error: ServiceError };

export interface Patching {
  readonly id: string;
  readonly rev: ExpectedRevision;
  readonly patch: unknown;
}

export interface Leaving {
  readonly id: string;
  readonly rev: ExpectedRevision;
}

/** A write of many: the part that can be done at once, and the way to do a single one. */
interface Writing<Item> {
  /**
   * Done for items that nothing stands against; null for the others, of which nothing is stored.
   */
  together(items: readonly Item[]): Promise<readonly (StoredDocument | null)[]>;
  /** Holds what items that are written one by one will wait for: no two of these deadlock. */
  hold?(items: readonly Item[]): Promise<void>;
  single(item: Item): Promise<StoredDocument>;
}

/** Creates documents as `create` does. */
export function createMany(
  spec: DocumentSpec,
  context: ExecutionContext,
  payloads: readonly unknown[],
  hooks: readonly VerbHooks[] = [],
): Promise<readonly ItemOutcome[]> {
  const around = hooksOf(hooks, "create");
  const madeOf = async (items: readonly unknown[]) => {
    const writer = await writerOf(spec, context, "create");
    const payloads = items.map((item) => unlessInvalid(() => createPayload(spec, item)));
    const known = await withIds(spec, context, payloads);
    return known.map((payload) =>
      payload === null
        ? null
        : unlessInvalid(() => {
            const made = newDocument(spec, writer, payload);
            checkInitial(spec, made.body);
            return made;
          }),
    );
  };
  return outcomesOf(context, payloads, {
    async hold(items) {
      if (spec.numbers === undefined && spec.noOverlap === undefined) return;
      await holdTogether(
        spec,
        context,
        (await madeOf(items)).flatMap((one) => one ?? []),
      );
    },
    single: (payload) =>
      runHooked(
        around,
        context,
        createPayload(spec, payload),
        async (given) => {
          const stored = await createDocument(spec, context, given);
          return { stored, output: () => renderDocument(spec, context, stored) };
        },
        (given) => createPayload(spec, given),
      ),
    async together(items) {
      if (around !== null) return items.map(() => null);
      const made = await madeOf(items);
      const free = await withReferencesHeld(spec, context, made, ({ body }, member) =>
        namesIn(body[member]),
      );
      const documents = await insertTogether(
        spec,
        context,
        free.flatMap((one) => one ?? []),
      );
      const given = items.filter((_item, at) => free[at] !== null) as readonly object[];
      const parts = documents.map((row, at) => ({ row, payload: given[at] ?? {} }));
      await expectVisible(spec, context, ...parts);
      await followAll(spec, context, "create", documents);
      const left = [...documents];
      return free.map((one) => (one === null ? null : (left.shift() ?? null)));
    },
  });
}

/** Patches documents as `update` does. */
export function updateMany(
  spec: DocumentSpec,
  context: ExecutionContext,
  items: readonly Patching[],
  hooks: readonly VerbHooks[] = [],
): Promise<readonly ItemOutcome[]> {
  const around = hooksOf(hooks, "update");
  const patchedOf = async (all: readonly Patching[]) => {
    const current = await currentOf(spec, context, all);
    const writer = await writerOf(spec, context, "write");
    const patches = all.map(({ patch }) =>
      unlessInvalid(() => checkedPayload(patch, spec.validatePatch)),
    );
    const known = await withIds(spec, context, patches);
    return known.map((change, at) => {
      const before = current[at];
      if (before === undefined || before === null || change === null) return null;
      return unlessInvalid(() => {
        const { body, diff } = patchedBody(spec, writer, before, change);
        const text = { body: JSON.stringify(body) };
        return { before, body, diff, after: nextRevision(context, before, text, writer.now) };
      });
    });
  };
  return outcomesOf(context, items, {
    async hold(all) {
      const ids = all.map(({ id }) => id);
      await holdChanged(spec, context, ids, async () =>
        (await patchedOf(all)).flatMap((one) => one ?? []),
      );
    },
    single({ id, rev, patch: asked }) {
      const input = { id, rev, patch: checkedPayload(asked, spec.validatePatch) };
      return runHooked(
        around,
        context,
        input,
        async (given) => {
          const { stored, diff } = await patchDocument(
            spec,
            context,
            given.id,
            given.rev,
            given.patch,
          );
          return { stored, output: () => renderUpdated(spec, context, stored, diff) };
        },
        ({ patch }) => checkedPayload(patch, spec.validatePatch),
      );
    },
    async together(all) {
      if (around !== null) return oneByOne(spec, context, all);
      const moved = await movable(spec, context, await patchedOf(all));
      const patched = await writable(spec, context, moved, all);
      const free = await withReferencesHeld(spec, context, patched, ({ diff, before }, member) =>
        Array.isArray(diff[member])
          ? namesGained(diff[member], (JSON.parse(before.body) as Body)[member])
          : namesIn(diff[member]),
      );
      const changes = free.map((one) =>
        one === null || Object.keys(one.diff).length === 0 ? null : one,
      );
      const replaced = await replaceTogether(spec, context, changes);
      const results: (StoredDocument | null)[] = [];
      for (const [at, one] of free.entries()) {
        const isUnchanged = one !== null && changes[at] === null;
        const written = one === null ? undefined : replaced.get(one.before.id);
        if (one !== null && written !== undefined)
          await followChange(spec, context, "update", written, one);
        results.push(isUnchanged ? one.before : (written ?? null));
      }
      return results;
    },
  });
}

/** Deletes documents: marks restorable ones, else removes them for good. */
export function deleteMany(
  spec: DocumentSpec,
  context: ExecutionContext,
  items: readonly Leaving[],
  hooks: readonly VerbHooks[] = [],
): Promise<readonly ItemOutcome[]> {
  const { softDelete } = spec;
  const around = hooksOf(hooks, softDelete ? "delete" : "kill");
  return outcomesOf(context, items, {
    single: ({ id, rev }) =>
      runHooked(around, context, { id, rev }, async (given) => {
        if (!softDelete)
          return {
            stored: await killDocument(spec, context, given.id, given.rev),
            output: async () => undefined,
          };
        const stored = await markDocument(spec, context, given.id, given.rev, true);
        return { stored, output: () => renderDocument(spec, context, stored) };
      }),
    async together(all) {
      // Who names them has a say, one by one, and so have hooks.
      if (around !== null) return oneByOne(spec, context, all);
      if (spec.referredBy !== undefined) return all.map(() => null);
      const current = await currentOf(spec, context, all);
      const now = timeOf(context);
      const gone = softDelete
        ? await replaceTogether(
            spec,
            context,
            current.map((before) =>
              before === null
                ? null
                : { before, after: nextRevision(context, before, { isDeleted: true }, now) },
            ),
          )
        : await removeTogether(spec, context, current);
      await followAll(spec, context, softDelete ? "delete" : "kill", [...gone.values()]);
      return current.map((before) => (before === null ? null : (gone.get(before.id) ?? null)));
    },
  });
}

/**
 * The documents of all items. Throws `bulk_refused` if one was refused: the transaction ends,
 * and nothing stays.
 */
export function allWritten(outcomes: readonly ItemOutcome[]): readonly StoredDocument[] {
  const documents: StoredDocument[] = [];
  const errors: object[] = [];
  for (const [item, outcome] of outcomes.entries()) {
    if ("stored" in outcome) documents.push(outcome.stored);
    else errors.push({ item, ...toEnvelope(outcome.error) });
  }
  if (errors.length === 0) return documents;
  throw fail("bulk_refused", {
    failed: errors.length,
    errors: errors.slice(0, limits.maxReportedErrors),
  });
}

async function followAll(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Emission["on"],
  documents: readonly StoredDocument[],
): Promise<void> {
  for (const stored of documents) await followChange(spec, context, on, stored);
}

/**
 * An outcome an item, in their order. Throws what is no fault of an item, and `query_too_complex`
 * where the documents are more than a page may have: then nothing has happened.
 */
async function outcomesOf<Item>(
  context: ExecutionContext,
  items: readonly Item[],
  { together, hold, single }: Writing<Item>,
): Promise<readonly ItemOutcome[]> {
  // Nothing is done at once of what one of the items stands against, such as a taken value.
  const atOnce = await unlessRefused(
    () => context.transact(() => together(items)),
    items.map(() => null),
  );
  if (atOnce.includes(null)) await hold?.(items);
  const outcomes: ItemOutcome[] = [];
  let bytes = 0;
  for (const [at, item] of items.entries()) {
    const stored = atOnce[at] ?? null;
    const outcome = stored === null ? await outcomeOf(context, () => single(item)) : { stored };
    outcomes.push(outcome);
    bytes += "stored" in outcome ? outcome.stored.body.length : 0;
    if (bytes > limits.maxPageBytes)
      throw fail("query_too_complex", { path: "/items", max_bytes: limits.maxPageBytes });
  }
  return outcomes;
}

async function outcomeOf(
  context: ExecutionContext,
  write: () => Promise<StoredDocument>,
): Promise<ItemOutcome> {
  context.lifetime.throwIfOver();
  try {
    return { stored: await context.transact(write) };
  } catch (thrown) {
    const error = context.declared(thrown);
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return { error };
  }
}

/**
 * Leaves items to be written one by one, and holds their rows in the order of ids: so no two of
 * these wait for each other.
 */
async function oneByOne(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  items: readonly Leaving[],
): Promise<readonly null[]> {
  const documents = context.transaction.of(documentStore);
  for (const id of new Set(items.map((item) => item.id).sort()))
    await documents.seize(spec, context.tenant, id);
  return items.map(() => null);
}

/**
 * The live documents of items as they are, where their revision is the one that is expected; each
 * once.
 */
async function currentOf(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  items: readonly Leaving[],
): Promise<readonly (StoredDocument | null)[]> {
  const ids = [...new Set(items.map(({ id }) => id))];
  const filter = context.scopeOf(spec.name);
  const [found = []] = await context.transaction
    .of(documentStore)
    .named([{ spec, ids, filter }], context.tenant, limits.maxPageBytes);
  const current = new Map(found.map((stored) => [stored.id, stored]));
  return items.map(({ id, rev }) => {
    const stored = current.get(id);
    current.delete(id);
    return stored !== undefined && (rev === "any" || rev === stored.rev) ? stored : null;
  });
}

/** Null for items whose targets don't exist, or that only a scope could judge. */
async function withReferencesHeld<Item>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  items: readonly (Item | null)[],
  namesOf: (item: Item, member: string) => readonly string[],
): Promise<readonly (Item | null)[]> {
  let free = items;
  for (const [member, targetOf] of Object.entries(spec.references ?? {})) {
    const named = free.map((item) => (item === null ? [] : namesOf(item, member)));
    const ids = [...new Set(named.flat())];
    if (ids.length === 0) continue;
    const target = targetOf();
    const seen = await narrowToReferable(spec, target, context);
    const isSeen = seen.scopeOf(target.name) === everything;
    const held = isSeen
      ? await context.transaction.of(documentStore).holdMany(target, context.tenant, ids)
      : new Set<string>();
    free = free.map((item, at) => (named[at]?.every((id) => held.has(id)) === true ? item : null));
  }
  return free;
}
