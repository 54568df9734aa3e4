// The rules of writing documents: revisions, patches, soft deletion, merges (decisions.md §1
// "Documents").
import { fail, ServiceError } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ExpectedRevision } from "../../operations/input.js";
import { uuidv7 } from "../../ports/uuid.js";
import { canonicalBody } from "../../contract/canonical-values.js";
import { checkBody } from "./body-check.js";
import { diffOf } from "./changes.js";
import { followChange } from "./follow-change.js";
import { withIds } from "./keys.js";
import { applyPatch } from "./merge-patch.js";
import { checkPreconditions, noPreconditions } from "../../operations/preconditions.js";
import { validatorsOf } from "./render.js";
import type { StoredDocument } from "../../ports/documents.js";
import { everything } from "../../query/ast.js";
import { giveNumbers, passTaken, withSampleNumbers } from "./numbers.js";
import { checkClaims, claimRanges } from "./ranges.js";
import { membersLeft, withSet } from "./set.js";
import { checkInitial, checkMove, expectMover } from "./states.js";
import { releaseReferrers, removeUnlessReferenced, unlessConflict } from "./departures.js";
import { holdReferences } from "./references.js";
import { undoDeletion } from "./undo.js";
import { retryWrite } from "./retry-write.js";
import { nextRevision, timeOf } from "./revision.js";
import { checkWithinScope, findDocument } from "./scoped.js";
import { expectVisible, findShown } from "./visible.js";
import { writerOf } from "./writer.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { Writer } from "../../ports/set-rules.js";
import { mergeThreeWay } from "./three-way-merge.js";
import { documentStore, type DocumentStore } from "../../ports/documents.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * Stores a new document at revision 1. The payload has been validated; members it leaves out get
 * their defaults.
 */
export async function createDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  given: Body,
): Promise<StoredDocument> {
  const [payload = given] = await withIds(spec, context, [given]);
  // What they may see in no document is refused before others can stand against it.
  if (spec.isOfHandlers !== true)
    await findShown(spec, context, () => new Set(Object.keys(payload)));
  const writer = await writerOf(spec, context, "create");
  const made = newDocument(spec, writer, payload);
  checkInitial(spec, made.body);
  await holdReferences(spec, context, made.body, Object.keys(made.body));
  const stored = await passTaken(spec, (passed) =>
    writeInSavepoint(spec, context, mayClash(spec), async (documents) => {
      const claims = await claimRanges(spec, context, [{ before: null, after: made.stored }]);
      const [one = made] = await giveNumbers(spec, context, [made], passed);
      await documents.insert(spec, context.tenant, one.stored);
      await checkWithinScope(spec, context, one.stored.id);
      await expectVisible(spec, context, { row: one.stored, payload });
      await checkClaims(spec, context, claims);
      return one.stored;
    }),
  );
  await followChange(spec, context, "create", stored);
  return stored;
}

/**
 * A document at revision 1, not stored and not numbered yet, and its body. Throws
 * `core.validation`.
 */
export function newDocument(
  spec: AnyDocumentSpec,
  writer: Writer,
  payload: Body,
): { readonly stored: StoredDocument; readonly body: Body } {
  const given: Record<string, unknown> = { ...payload };
  const asked = spec.takesIds === true ? given["id"] : undefined;
  if (spec.takesIds === true) delete given["id"];
  const left = membersLeft(spec, payload);
  for (const [member, value] of Object.entries(spec.defaults))
    if (!Object.hasOwn(given, member)) given[member] = value;
  const set = canonicalBody(withSet(spec, writer, given, "create", left), spec.canonical);
  const body = withSampleNumbers(spec, set, writer.now);
  checkBody(spec, body, { left });
  const stored: StoredDocument = {
    id: typeof asked === "string" ? asked.toLowerCase() : uuidv7(),
    rev: 1,
    createdAt: writer.now,
    lastUpdateAt: writer.now,
    isDeleted: false,
    ownerId: writer.caller,
    changedBy: writer.caller,
    body: JSON.stringify(body),
  };
  return { stored, body };
}

/**
 * The body after a patch at the revision that it has, and what of it is new. Throws
 * `core.validation`.
 */
export function patchedBody(
  spec: AnyDocumentSpec,
  writer: Writer,
  current: StoredDocument,
  patch: Body,
): { readonly body: Body; readonly diff: Body } {
  const before = JSON.parse(current.body) as Body;
  const after = applyPatch(before, canonicalBody(patch, spec.canonical), nullable(spec));
  return changedBody(spec, writer, before, after);
}

/**
 * A body that somebody has changed, with what the service sets then; one that nobody has changed
 * stays as it is.
 */
export function changedBody(
  spec: AnyDocumentSpec,
  writer: Writer,
  before: Body,
  after: Body,
): { readonly body: Body; readonly diff: Body } {
  const diff = diffOf(before, after);
  const isSettled = spec.set === undefined || Object.keys(diff).length === 0;
  const body = isSettled
    ? after
    : canonicalBody(withSet(spec, writer, after, "write"), spec.canonical);
  checkBody(spec, body, { before });
  checkMove(spec, before, body);
  return { body, diff: isSettled ? diff : diffOf(before, body) };
}

/** A patched document, and the top-level members that the patch changed. */
export interface PatchedDocument {
  readonly stored: StoredDocument;
  readonly diff: Body;
}

/**
 * Applies a merge patch at an expected revision. A patch that changes nothing does not bump the
 * revision. Throws `core.not_found`, `document_deleted`, `precondition_failed`,
 * `revision_mismatch`, `historical_consistency_violation`, `history_not_found_retry`,
 * `core.concurrency`.
 */
export async function patchDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  expected: ExpectedRevision,
  patch: Body,
  preconditions = noPreconditions,
): Promise<PatchedDocument> {
  return retryWrite(context, async () => {
    const current = await findExisting(spec, context, id);
    if (current.isDeleted) throw fail("document_deleted");
    checkPreconditions(preconditions, validatorsOf(spec, current));
    return patchCurrent(spec, context, current, expected, patch);
  });
}

/**
 * As `patchDocument`, of a live document that was just read; null if its revision is no longer
 * the one that it had.
 */
export async function patchCurrent(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  expected: ExpectedRevision,
  given: Body,
): Promise<PatchedDocument | null> {
  const [patch = given] = await withIds(spec, context, [given]);
  await expectVisible(spec, context, { row: current, payload: patch });
  const before = JSON.parse(current.body) as Body;
  const change = canonicalBody(patch, spec.canonical);
  const after =
    expected === "any" || expected === current.rev
      ? applyPatch(before, change, nullable(spec))
      : await mergeAndReplace(spec, context, current, expected, before, change);
  const writer = await writerOf(spec, context, "write");
  const { body, diff } = changedBody(spec, writer, before, after);
  const changed = Object.keys(diff);
  if (changed.length === 0) return { stored: current, diff };
  await expectMover(spec, context, before, body);
  await holdReferences(spec, context, body, changed, { before });
  const stored = await replacedBody(spec, context, current, body, changed);
  if (stored === null) return null;
  await followChange(spec, context, "update", stored, { diff, before: current });
  return { stored, diff };
}

async function mergeAndReplace(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  expected: number,
  before: Body,
  change: Body,
): Promise<Body> {
  // A handler may name what no revision was: engines can't look up every number.
  const wasThere = Number.isInteger(expected) && expected >= 1 && expected < current.rev;
  if (spec.history === 0 || !wasThere) throw mismatch(current);
  const text = await context.transaction
    .of(documentStore)
    .snapshot(spec, context.tenant, current.id, expected);
  if (text === null) throw fail("history_not_found_retry", { current_rev: current.rev });
  const base = JSON.parse(text) as Body;
  return mergeThreeWay(base, applyPatch(base, change, nullable(spec)), before);
}

/** Marks a document as deleted or as live again. A stale revision is always `revision_mismatch`. */
export async function markDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  expected: ExpectedRevision,
  isDeleted: boolean,
  preconditions = noPreconditions,
): Promise<StoredDocument> {
  return retryWrite(context, async () => {
    const current = await findExisting(spec, context, id);
    checkPreconditions(preconditions, validatorsOf(spec, current));
    if (expected !== "any" && expected !== current.rev) throw mismatch(current);
    if (isDeleted && current.isDeleted) throw fail("document_deleted");
    if (isDeleted === current.isDeleted) return current;
    const stored = await unlessConflict(() =>
      isDeleted ? markDeleted(spec, context, current) : restoreLive(spec, context, current),
    );
    if (stored !== null)
      await followChange(spec, context, isDeleted ? "delete" : "restore", stored);
    return stored;
  });
}

/** The document marked as deleted, with what goes along. */
function markDeleted(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
): Promise<StoredDocument | null> {
  return removeUnlessReferenced(spec, context, current.id, async () => {
    const marked = await replaceCurrent(spec, context, current, { isDeleted: true }, false);
    if (marked !== null) await releaseReferrers(spec, context, marked, "delete");
    return marked;
  });
}

/** The document live again, if the targets of its references exist. */
async function restoreLive(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
): Promise<StoredDocument | null> {
  const restore = (): Promise<StoredDocument | null> =>
    replaceCurrent(spec, context, current, { isDeleted: false }, mayClash(spec));
  if (spec.undoes === true) return undoDeletion(spec, context, current, restore);
  if (spec.references !== undefined) {
    const body = JSON.parse(current.body) as Body;
    // It has named them before: whether they are there is asked, not who sees them.
    await holdReferences(spec, context.beyondScopes, body, Object.keys(body), {
      own: current.id,
    });
  }
  return restore();
}

/**
 * Removes a document for good, and gives it as it was. Throws `core.not_found`,
 * `precondition_failed`, `revision_mismatch`.
 */
export async function killDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  expected: ExpectedRevision | undefined,
  preconditions = noPreconditions,
): Promise<StoredDocument> {
  return retryWrite(context, async () => {
    const current = await findExisting(spec, context, id);
    checkPreconditions(preconditions, validatorsOf(spec, current));
    if (typeof expected === "number" && expected !== current.rev) throw mismatch(current);
    const documents = context.transaction.of(documentStore);
    const isGone = await unlessConflict(() =>
      removeUnlessReferenced(spec, context, id, async () => {
        const removed = await documents.remove(spec, context.tenant, id, current.rev);
        if (removed) await releaseReferrers(spec, context, current, "kill");
        return removed;
      }),
    );
    if (isGone !== true) return null;
    await followChange(spec, context, "kill", current);
    return current;
  });
}

/** The document, deleted or not, as far as the caller sees. Throws `core.not_found`. */
export async function findExisting(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<StoredDocument> {
  const current = await findDocument(spec, context, id);
  if (current === null) throw fail("core.not_found");
  return current;
}

/**
 * The next revision with a body of which these members are new, where the current one is still
 * there; else null.
 */
export function replacedBody(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  body: Body,
  changed: readonly string[],
): Promise<StoredDocument | null> {
  const { unique = [], noOverlap } = spec;
  const isUnique = unique.some(({ members, where = [] }) =>
    [...members, ...where].some((path) => changed.includes(path.split(".")[0] ?? path)),
  );
  const isSure = !isUnique && noOverlap === undefined;
  return replaceCurrent(spec, context, current, { body: JSON.stringify(body) }, !isSure);
}

/** The next revision if the current one is still there, else null. */
async function replaceCurrent(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  change: Partial<Pick<StoredDocument, "body" | "isDeleted">>,
  isClashing: boolean,
): Promise<StoredDocument | null> {
  const next = nextRevision(context, current, change, timeOf(context));
  const won = await writeInSavepoint(spec, context, isClashing, async (documents) => {
    const claims = await claimRanges(spec, context, [{ before: current, after: next }]);
    const isReplaced = await documents.replace(spec, context.tenant, current.rev, next);
    if (!isReplaced) return false;
    await checkWithinScope(spec, context, next.id);
    await checkClaims(spec, context, claims);
    return true;
  });
  return won ? next : null;
}

/** Whether other documents may stand against one of these. */
function mayClash({ unique, noOverlap }: AnyDocumentSpec): boolean {
  return unique !== undefined || noOverlap !== undefined;
}

/**
 * Writes what may be refused once it is written, because another document stands against it or the
 * scope leaves it out: a handler that catches that goes on in its transaction without it.
 */
function writeInSavepoint<T>(
  { name }: AnyDocumentSpec,
  context: ExecutionContext,
  isClashing: boolean,
  write: (documents: DocumentStore) => Promise<T>,
): Promise<T> {
  const documents = context.transaction.of(documentStore);
  const isSure = !isClashing && context.scopeOf(name) === everything;
  return isSure ? write(documents) : context.transact(() => write(documents));
}

/** The error of a revision that is not the current one. */
export function mismatch(current: StoredDocument): ServiceError {
  return fail("revision_mismatch", { current_rev: current.rev });
}

function nullable(spec: AnyDocumentSpec): (path: string) => boolean {
  const ofMaps = spec.nullable.filter((path) => path.includes("*")).map((path) => path.split("."));
  return (path) => {
    if (spec.nullable.includes(path)) return true;
    const steps = path.split(".");
    return ofMaps.some(
      (pattern) =>
        pattern.length === steps.length &&
        pattern.every((step, index) => step === "*" || step === steps[index]),
    );
  };
}
