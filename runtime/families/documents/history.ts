// Revisions of documents, differences between two of them, going back to one; deleted documents.
// A caller who may read a document today may read its past (decisions.md §4 "Revisions").
import { fail } from "../../contract/errors.js";
import { pointer, valueAt } from "../../contract/json-pointer.js";
import { limits } from "../../contract/limits.js";
import { jsonEqual } from "../../contract/validation.js";
import type { ExecutionContext } from "../../operations/context.js";
import { cursorBinding, decodeCursor, encodeCursor } from "../../operations/cursor.js";
import { parseWith, type ExpectedRevision, type ParsedBody } from "../../operations/input.js";
import { JsonText } from "../../operations/json-text.js";
import type { Handler } from "../../operations/operation.js";
import { checkPreconditions } from "../../operations/preconditions.js";
import { historyStore, type KeptRevision } from "../../ports/document-history.js";
import type { AnyDocumentSpec, DocumentSpec } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import { allOf } from "../../query/ast.js";
import { integerAt, parseCursorRequest, type CursorRequest } from "../../query/list-request.js";
import { changedPaths } from "./changes.js";
import { followChange } from "./follow-change.js";
import { listByCursor } from "./list.js";
import type { CursorPage } from "./pages.js";
import { checkedPayload } from "./payloads.js";
import { runHooked, hooksOf, type VerbHooks } from "./hooked.js";
import { holdReferences } from "./references.js";
import { callerSight } from "./reach.js";
import {
  documentText,
  renderDocument,
  renderUpdated,
  validatorsOf,
  withoutHidden,
} from "./render.js";
import { findDocument, readDocument } from "./scoped.js";
import { showDocument } from "./visible.js";
import { retryWrite } from "./retry-write.js";
import { findExisting, mismatch, patchCurrent, replacedBody, changedBody } from "./write.js";
import { expectMover } from "./states.js";
import { writerOf } from "./writer.js";

type Body = Readonly<Record<string, unknown>>;

/** Revisions on one page. */
const pageSize = { usual: 20, most: 100 };

/** A revision as it is answered, besides its body. */
export interface RevisionEntry {
  readonly rev: number;
  /** RFC 3339; null if the version that kept it noted no time. */
  readonly changed_at: string | null;
  readonly changed_by: string | null;
  /** Of documents with soft deletion. */
  readonly is_deleted?: boolean;
}

/** A revision with the document as it was. */
export interface RevisionOf<Document> extends Pick<RevisionEntry, "changed_at" | "changed_by"> {
  readonly data: Document;
}

/** A page of revisions, the newest first. */
export interface RevisionPage {
  readonly hits: readonly RevisionEntry[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/** What differs between two revisions, by JSON Pointers. A value that was absent is left out. */
export interface RevisionDiff {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly {
    readonly path: string;
    readonly from?: unknown;
    readonly to?: unknown;
  }[];
}

/** A spec of these documents, whatever is written and asked of them. */
export type SpecOf<Document> = DocumentSpec<{ document: Document; expanded: unknown }>;

interface Identified {
  readonly id: string;
}

/**
 * Handlers over what documents were. Each takes a spec and returns the handler of one operation.
 */
export const history = {
  revisions:
    (
      spec: AnyDocumentSpec,
    ): Handler<
      Identified & { readonly size?: number | undefined; readonly after?: string | undefined },
      RevisionPage
    > =>
    async ({ id, size: asked, after }, context) => {
      const size = integerAt(asked, "/size", 1, pageSize.most, pageSize.usual);
      await readDocument(spec, context, id);
      const binding = cursorBinding(context, { id });
      const before = after === undefined ? null : Number(decodeCursor(context, binding, after)[0]);
      const store = context.transaction.of(historyStore);
      const found = await store.revisions(spec, context.tenant, id, before, size + 1);
      const hits = found.slice(0, size).map((one) => entryOf(spec, one));
      const hasMore = found.length > size;
      const last = hits.at(-1);
      const next =
        hasMore && last !== undefined ? encodeCursor(context, binding, [last.rev]) : null;
      return { hits, next_cursor: next, has_more: hasMore };
    },

  revision:
    <Document>(
      spec: SpecOf<Document>,
    ): Handler<Identified & { readonly revision: number }, RevisionOf<Document>> =>
    async ({ id, revision }, context) => {
      const current = await readDocument(spec, context, id);
      const { body, rev, isDeleted, changedAt, changedBy } = await revisionOf(
        spec,
        context,
        current,
        revision,
      );
      // Where no time was noted, it is one since the document was made.
      const lastUpdateAt = changedAt ?? current.createdAt;
      const then = { ...current, rev, isDeleted, lastUpdateAt, body };
      const { hidden } = await showDocument(spec, context, current);
      const told = JSON.stringify({ changed_at: changedAt, changed_by: changedBy });
      return new JsonText(
        `${told.slice(0, -1)},"data":${documentText(spec, { row: then, hidden })}}`,
      );
    },

  revisionDiff:
    (
      spec: AnyDocumentSpec,
    ): Handler<
      Identified & { readonly revision: number; readonly to?: number | undefined },
      RevisionDiff
    > =>
    async ({ id, revision, to: asked }, context) => {
      const current = await readDocument(spec, context, id);
      const to = asked ?? current.rev;
      const bodies = [];
      for (const rev of [revision, to])
        bodies.push(JSON.parse((await revisionOf(spec, context, current, rev)).body) as Body);
      const { hidden } = await showDocument(spec, context, current);
      const [before = {}, after = {}] = bodies.map((body) => withoutHidden(body, hidden));
      return { from: revision, to, changes: changesBetween(before, after) };
    },

  /** Writes a new revision with the patchable members of an earlier one. */
  revert:
    <Document>(
      spec: SpecOf<Document>,
      ...hooks: readonly VerbHooks[]
    ): Handler<Reverting, Document> =>
    async ({ id, rev, to }, context) =>
      renderDocument(spec, context, await revertDocument(spec, context, { id, rev, to }, hooks)),

  getDeleted:
    <Document>(spec: DocumentSpec<{ document: Document }>): Handler<Identified, Document> =>
    async ({ id }, context) => {
      const stored = await findDocument(spec, context, id);
      if (stored?.isDeleted !== true) throw fail("core.not_found");
      return renderDocument(spec, context, stored);
    },

  /** What `listDeleted` takes: the body of a list by cursor. */
  listing: (spec: DocumentSpec): ParsedBody<CursorRequest> => {
    const rules = { fields: spec.fieldSet, mayListDeleted: false, isRaw: false };
    return parseWith((body) => parseCursorRequest(body, rules));
  },

  listDeleted:
    <Document>(
      spec: DocumentSpec<{ document: Document }>,
    ): Handler<CursorRequest, CursorPage<Document>> =>
    (request, context): Promise<JsonText<CursorPage<Document>>> => {
      const field = { path: "is_deleted", type: "boolean", isColumn: true } as const;
      const isDeleted = { kind: "compare", field, operator: "$eq", value: true } as const;
      const filter = allOf(request.filter, isDeleted);
      return listByCursor(spec, context, { ...request, filter, withDeleted: true }, callerSight);
    },
};

function entryOf(
  { softDelete }: AnyDocumentSpec,
  { rev, changedAt, changedBy, isDeleted }: KeptRevision,
): RevisionEntry {
  const entry = { rev, changed_at: changedAt, changed_by: changedBy };
  return softDelete ? { ...entry, is_deleted: isDeleted } : entry;
}

/**
 * A revision of a document that the caller may read. Throws `core.not_found` if it isn't kept.
 */
async function revisionOf(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  rev: number,
): Promise<KeptRevision & { readonly body: string }> {
  // Engines can't look up every number.
  const wasThere = Number.isSafeInteger(rev) && rev >= 1 && rev <= current.rev;
  const kept = wasThere
    ? await context.transaction.of(historyStore).revision(spec, context.tenant, current.id, rev)
    : null;
  if (kept !== null) return kept;
  if (rev !== current.rev) throw fail("core.not_found");
  // A document that is older than its history has no snapshot of its present state.
  const { lastUpdateAt: changedAt, isDeleted, body } = current;
  return { rev, changedAt, changedBy: null, isDeleted, body };
}

/**
 * Throws `query_too_complex` if they would be more than a page may be: each path has the names
 * of all that is around it.
 */
function changesBetween(before: Body, after: Body): RevisionDiff["changes"] {
  const changes = [];
  let bytes = 0;
  for (const path of changedPaths(before, after)) {
    const [from, to] = [valueAt(before, path), valueAt(after, path)];
    const at = path.reduce(pointer, "");
    bytes += at.length;
    if (bytes > limits.maxPageBytes)
      throw fail("query_too_complex", { path: "/revision", max_bytes: limits.maxPageBytes });
    changes.push({
      path: at,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    });
  }
  return changes;
}

/** A revision to go back to, from the one that is expected. */
interface Reverting extends Identified {
  readonly rev: ExpectedRevision;
  readonly to: number;
}

/**
 * The document with its members as they were, as one revision more: what is not valid today, names
 * what is gone or has what only one may have is refused. Throws as an update does, and
 * `core.not_found` for a revision that is not kept.
 */
function revertDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  { id, rev: expected, to }: Reverting,
  hooks: readonly VerbHooks[] = [],
): Promise<StoredDocument> {
  return retryWrite(context, async () => {
    const current = await findExisting(spec, context, id);
    if (current.isDeleted) throw fail("document_deleted");
    checkPreconditions(context.preconditions, validatorsOf(spec, current));
    if (expected !== "any" && expected !== current.rev) throw mismatch(current);
    const before = JSON.parse(current.body) as Body;
    const then = JSON.parse((await revisionOf(spec, context, current, to)).body) as Body;
    const { hidden } = await showDocument(spec, context, current);
    const back = broughtBack(spec, before, then, hidden);
    const writer = await writerOf(spec, context, "write");
    const { body: after, diff } = changedBody(spec, writer, before, back);
    const names = Object.keys(diff);
    if (names.length === 0) return current;
    await expectMover(spec, context, before, after);
    const write = async (): Promise<StoredDocument | null> => {
      await holdReferences(spec, context, after, names, { before });
      const stored = await replacedBody(spec, context, current, after, names);
      if (stored !== null)
        await followChange(spec, context, "update", stored, { diff, before: current });
      return stored;
    };
    const around = hooksOf(hooks, "update");
    if (around === null) return write();
    // Members that the service sets are in no patch.
    const asked = names.filter((name) => spec.unpatchable?.includes(name) !== true);
    const input = {
      id,
      rev: current.rev,
      patch: Object.fromEntries(asked.map((name) => [name, diff[name]])),
    };
    return runHooked(
      around,
      context,
      input,
      async ({ patch }) => {
        // A hook that wraps the write may pass on another patch.
        if (patch !== input.patch) {
          const patched = await patchCurrent(spec, context, current, "any", patch);
          if (patched === null) throw fail("core.concurrency");
          return {
            stored: patched.stored,
            output: () => renderUpdated(spec, context, patched.stored, patched.diff),
          };
        }
        const stored = await write();
        if (stored === null) throw fail("core.concurrency");
        return { stored, output: () => renderUpdated(spec, context, stored, diff) };
      },
      ({ patch }) => patch === input.patch || checkedPayload(patch, spec.validatePatch),
    );
  });
}

/**
 * A body with the members that a patch may have as they were; those that were not there are gone,
 * and those that the caller may not see stay as they are.
 * Throws `core.validation` for members that a patch may not set today.
 */
function broughtBack(
  { unpatchable = [], nullable, validatePatch }: AnyDocumentSpec,
  body: Body,
  then: Body,
  hidden: ReadonlySet<string>,
): Body {
  const stays = ([name]: readonly [string, unknown]): boolean =>
    unpatchable.includes(name) || hidden.has(name);
  // A member that may no longer be null is one that was not there.
  const wasThere = ([name, value]: readonly [string, unknown]): boolean =>
    value !== null || nullable.includes(name);
  const back = Object.entries(then).filter((member) => !stays(member) && wasThere(member));
  const changed = back.filter(([name, value]) => !jsonEqual(body[name], value));
  const faults = validatePatch?.(Object.fromEntries(changed)) ?? null;
  if (faults !== null) throw fail("core.validation", { errors: faults });
  const brought = Object.fromEntries(back);
  const kept = Object.entries(body).filter(
    (member) => stays(member) || Object.hasOwn(brought, member[0]),
  );
  return { ...Object.fromEntries(kept), ...brought };
}
