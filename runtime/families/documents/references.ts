// References between documents: their targets exist, and stay.
import { fail } from "../../contract/errors.js";
import { pointer } from "../../contract/json-pointer.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec, Referrer } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { everything } from "../../query/ast.js";
import { narrowToReferable } from "./access.js";
import { followChange } from "./follow-change.js";
import { diffOf } from "./changes.js";
import { checkClaims, claimRanges } from "./ranges.js";
import { withSet } from "./set.js";
import { writerOf } from "./writer.js";
import { nextRevision, timeOf } from "./revision.js";
import { readRows } from "./rows.js";
import { findDocument } from "./scoped.js";

type Body = Readonly<Record<string, unknown>>;

/** Documents that the deletion of one may take along or change. */
export const maxReferrers = 1_000;

/**
 * Holds what these members of a body name, so that nobody deletes it before the transaction has
 * ended. Throws `core.validation` with the pointers of what leads nowhere, as far as the caller
 * sees.
 */
export async function holdReferences(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  body: Body,
  members: readonly string[],
  own?: string,
): Promise<void> {
  const { references } = spec;
  if (references === undefined) return;
  const faults = [];
  for (const member of members) {
    const target = Object.hasOwn(references, member) ? references[member]?.() : undefined;
    const id = body[member] ?? null;
    // A restored document may name itself.
    if (target === undefined || typeof id !== "string" || id === own) continue;
    if (!(await isHeld(spec, target, context, id)))
      faults.push({
        path: pointer("", member),
        keyword: "ref",
        message: `names none of the ${target.name}`,
      });
  }
  if (faults.length > 0) throw fail("core.validation", { errors: faults });
}

async function isHeld(
  spec: AnyDocumentSpec,
  target: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<boolean> {
  const held = await context.transaction.of(documentStore).hold(target, context.tenant, id);
  const seen = await narrowToReferable(spec, target, context);
  if (!held || seen.scopeOf(target.name) === everything) return held;
  return (await findDocument(target, seen, id)) !== null;
}

/** How a document goes: marked, so that it can be restored, or for good. */
export type Departure = "delete" | "kill";

/** A deletion under way, with all that it takes along. */
interface Going {
  readonly how: Departure;
  /** Documents that it may still take along or change. */
  left: number;
  /** Referrers that may hold back a document, unless they go along. */
  readonly restricting: { readonly referrer: Referrer; readonly id: string }[];
}

/**
 * Does what the referrers of a document that goes ask for. Throws `reference_in_use` if one of
 * them restricts it, or where there are more than `maxReferrers`.
 */
export async function releaseReferrers(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  how: Departure,
): Promise<void> {
  const going: Going = { how, left: maxReferrers, restricting: [] };
  await release(spec, context, id, going);
  // Now that all have gone that go along, and no longer hold anything back.
  for (const { referrer, id: named } of going.restricting) {
    const { rows } = await namedBy(referrer, context, named, how, 1);
    if (rows.length > 0) throw inUse(referrer);
  }
}

async function release(
  { referredBy = [] }: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  going: Going,
): Promise<void> {
  for (const referrer of referredBy) {
    if (referrer.onDelete === "restrict") {
      going.restricting.push({ referrer, id });
      continue;
    }
    // Those that have gone, or name it no more, are not found again.
    for (let hasMore = true; hasMore;) {
      const { rows, isCut } = await namedBy(referrer, context, id, going.how, going.left + 1);
      going.left -= rows.length;
      if (going.left < 0) throw inUse(referrer, maxReferrers);
      for (const row of rows) await releaseReferrer(referrer, context, row.id, going);
      hasMore = isCut;
    }
  }
}

async function releaseReferrer(
  { by, member, onDelete }: Referrer,
  context: ExecutionContext,
  id: string,
  going: Going,
): Promise<void> {
  // One that is named on two ways has gone, or changed, on the first.
  const row = await context.transaction.of(documentStore).get(by(), context.tenant, id);
  if (row === null || (going.how === "delete" && row.isDeleted)) return;
  if (onDelete === "set_null") await clearReference(by(), context, row, member);
  else await takenAlong(by(), context, row, going);
}

function inUse({ by, member }: Referrer, limit?: number): Error {
  const told = { document: by().name, member };
  return fail("reference_in_use", limit === undefined ? told : { ...told, limit });
}

/** Rows that are read here reach no answer. */
const unanswered = { grow: () => undefined };

/**
 * Documents that name another one, so many at most, and no more bytes than a page. What is marked
 * goes along for good only.
 */
function namedBy(
  { by, member, onDelete }: Referrer,
  context: ExecutionContext,
  id: string,
  how: Departure,
  most: number,
): Promise<{ readonly rows: readonly StoredDocument[]; readonly isCut: boolean }> {
  const spec = by();
  const field = spec.fieldSet.find(member);
  if (field === undefined) throw new TypeError(`${spec.name} has no field ${member}`);
  const query = {
    filter: { kind: "compare", field, operator: "$eq", value: id } as const,
    sorts: [{ field: spec.fieldSet.id, direction: "asc", nulls: "first" } as const],
    withDeleted: how === "kill" && onDelete !== "restrict",
  };
  const store = context.transaction.of(documentStore);
  return readRows(
    (window) => store.select(spec, context.tenant, query, window),
    query.sorts,
    { offset: 0, after: undefined },
    most,
    unanswered,
  );
}

async function clearReference(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  member: string,
): Promise<void> {
  const before = JSON.parse(current.body) as Body;
  const writer = await writerOf(spec, context, "write");
  const body = withSet(spec, writer, { ...before, [member]: null }, "write");
  const diff = diffOf(before, body);
  const stored = await next(spec, context, current, { body: JSON.stringify(body) });
  await followChange(spec, context, "update", stored, { diff, before: current });
}

async function takenAlong(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  going: Going,
): Promise<void> {
  if (spec.referredBy !== undefined)
    await context.transaction.of(documentStore).seize(spec, context.tenant, current.id);
  if (going.how === "kill") {
    const documents = context.transaction.of(documentStore);
    if (!(await documents.remove(spec, context.tenant, current.id, current.rev)))
      throw fail("core.concurrency");
    await followChange(spec, context, "kill", current);
  } else {
    const stored = await next(spec, context, current, { isDeleted: true });
    await followChange(spec, context, "delete", stored);
  }
  await release(spec, context, current.id, going);
}

/** The next revision; whoever was faster has it tried again. */
async function next(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  change: Partial<Pick<StoredDocument, "body" | "isDeleted">>,
): Promise<StoredDocument> {
  const stored = nextRevision(context, current, change, timeOf(context));
  const documents = context.transaction.of(documentStore);
  const claims = await claimRanges(spec, context, [{ before: current, after: stored }]);
  if (!(await documents.replace(spec, context.tenant, current.rev, stored)))
    throw fail("core.concurrency");
  await checkClaims(spec, context, claims);
  return stored;
}
