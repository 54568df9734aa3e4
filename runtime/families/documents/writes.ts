// Writes of author handlers: typed, by the rules of the routes, inside the running transaction.
import { within, type Access } from "./access.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ExpectedRevision } from "../../operations/input.js";
import type { DocumentSpec } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import type { SpecOf } from "./history.js";
import { allWritten, createMany, deleteMany, updateMany, type ItemOutcome } from "./many.js";
import { checkedRevision, readDocumentId, knownItem } from "./named.js";
import { allHeldTo, checkedPayload, createPayload, heldTo, ofHandlers } from "./payloads.js";
import { documentText, renderDocument } from "./render.js";
import { showDocuments } from "./visible.js";
import { upsertDocument } from "./upsert.js";
import { incrementDocument } from "./locked.js";
import { createDocument, killDocument, markDocument, patchDocument } from "./write.js";

/** Members of a patch that are numbers, with what is added to them. */
export type Amounts<Patch> = {
  readonly [
    Member in keyof Patch as number extends NonNullable<Patch[Member]> ? Member : never
  ]?: number;
};

/** What handlers write. */
export interface Writes<Document, Create, Patch> {
  /**
   * Creates what callers could create, and what handlers alone write: the payload is held to the
   * document's own validator. Throws `core.validation`, also for what only the service sets (`id`,
   * `rev`, dates, owner).
   */
  create(payload: Create): Promise<Document>;
  /**
   * Patches at a revision with what callers could patch with, as `create` does; see
   * `documents.update` for the errors.
   */
  update(id: string, rev: ExpectedRevision, patch: Patch): Promise<Document>;
  /**
   * Adds amounts to numbers, whoever else does so at the same time: `{votes: 1}`, or `{stock: -2}`.
   * One that is absent or null counts as 0. Throws as `update` does.
   */
  increment(id: string, amounts: Amounts<Patch>): Promise<Document>;
  /**
   * Updates the live document that has the same in these members, which `unique` names together, or
   * creates it. Whoever is as fast and creates it first has it updated. Throws as `create` and
   * `update` do.
   */
  upsert(
    by: readonly ((keyof Document & string) | "owner_id")[],
    payload: Create,
  ): Promise<Document>;
  /**
   * As `create`, of many by few statements: all, or none. Throws `bulk_refused`, whose context
   * tells what stands against each.
   */
  createMany(payloads: readonly Create[]): Promise<readonly Document[]>;
  /** As `update`, of many: all, or none. */
  updateMany(
    items: readonly {
      readonly id: string;
      readonly rev: ExpectedRevision;
      readonly patch: Patch;
    }[],
  ): Promise<readonly Document[]>;
  /**
   * Deletes many, all or none: marks restorable ones, else removes them for good.
   */
  deleteMany(
    items: readonly { readonly id: string; readonly rev: ExpectedRevision }[],
  ): Promise<readonly Document[]>;
  /** Marks restorable documents as deleted, as `documents.delete` does. */
  delete(id: string, rev: ExpectedRevision): Promise<Document>;
  /** Undoes `delete`. */
  restore(id: string, rev: ExpectedRevision): Promise<Document>;
  /** Removes a document for good, at a revision or at whatever it has. */
  kill(id: string, rev?: ExpectedRevision): Promise<void>;
}

/** The writes of the documents of a spec. */
export function writesOf<Document, Create, Patch>(
  spec: SpecOf<Document>,
  context: ExecutionContext,
): Writes<Document, Create, Patch> {
  const writing = ofHandlers(spec);
  const seenBy = (access: Access): Promise<ExecutionContext> => within(spec, context, access);
  const rendered = async (stored: StoredDocument): Promise<Document> =>
    (await renderDocument<Document>(spec, context, stored)).parse();
  const one = async (payload: unknown, write: () => Promise<StoredDocument>): Promise<Document> =>
    rendered(await heldTo(spec, payload, write));
  // In a transaction within the running one: a refused write leaves nothing.
  const all = async (
    payloads: readonly unknown[],
    write: () => Promise<readonly ItemOutcome[]>,
  ): Promise<readonly Document[]> => {
    const written = await allHeldTo(spec, payloads, () =>
      context.transact(async () => allWritten(await write())),
    );
    const seen = await showDocuments(spec, context, written);
    return seen.map((one) => JSON.parse(documentText(spec, one)) as Document);
  };
  return {
    create: (payload) =>
      one(payload, async () => {
        const given = createPayload(writing, payload);
        return createDocument(writing, await seenBy("create"), given);
      }),
    update: (id, rev, patch) =>
      one(patch, async () => {
        const change = checkedPayload(patch, writing.validatePatch);
        const seen = await seenBy("update");
        return (await patchDocument(writing, seen, readDocumentId(id), rev, change)).stored;
      }),
    increment: (id, amounts) =>
      one(amounts, async () => {
        const seen = await seenBy("update");
        return incrementDocument(writing, seen, readDocumentId(id), amounts);
      }),
    upsert: (by, payload) =>
      one(payload, async () => {
        const contexts = { create: await seenBy("create"), update: await seenBy("update") };
        return (await upsertDocument(writing, contexts, by, payload)).stored;
      }),
    createMany: (payloads) =>
      all(payloads, async () => createMany(writing, await seenBy("create"), payloads)),
    updateMany: (items) => {
      const patches = items.map(({ patch }) => patch);
      return all(patches, async () =>
        updateMany(writing, await seenBy("update"), items.map(knownItem)),
      );
    },
    deleteMany: (items) =>
      all([], async () => {
        const seen = await seenBy(spec.softDelete ? "delete" : "kill");
        return deleteMany(spec, seen, items.map(knownItem));
      }),
    delete: async (id, rev) =>
      rendered(await requireMarking(spec, await seenBy("delete"), readDocumentId(id), rev, true)),
    restore: async (id, rev) =>
      rendered(await requireMarking(spec, await seenBy("restore"), readDocumentId(id), rev, false)),
    async kill(id, rev = "any") {
      await killDocument(spec, await seenBy("kill"), readDocumentId(id), checkedRevision(rev));
    },
  };
}

/** Throws where documents of this type are removed for good, or not at all. */
function requireMarking(
  spec: DocumentSpec,
  context: ExecutionContext,
  id: string,
  rev: ExpectedRevision,
  isDeleted: boolean,
): Promise<StoredDocument> {
  if (!spec.softDelete) throw new TypeError(`${spec.name} has no soft_delete: use kill`);
  return markDocument(spec, context, id, rev, isDeleted);
}
