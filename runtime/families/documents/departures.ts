// What becomes of documents that name one which goes: they hold it back, go along, or name it no
// longer.
import { fail, isConflict } from "../../contract/errors.js";
import { storedName } from "../../contract/stored-members.js";
import type { ExecutionContext } from "../../operations/context.js";
import { deletionStore, type Involved } from "../../ports/deletions.js";
import type { AnyDocumentSpec, Referrer } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import type { Filter } from "../../query/ast.js";
import { elementOf, type FieldReference } from "../../query/fields.js";
import { followChange, type Occasion } from "./follow-change.js";
import { namesIn } from "./names.js";
import { replaceNext, writeReferences } from "./referrer.js";
import { readRows } from "./rows.js";

type Body = Readonly<Record<string, unknown>>;

/** Documents that the deletion of one may take along or change. */
export const maxReferrers = 1_000;

/**
 * A departure that referrers may refuse: then nothing of it stays. Who names the document meanwhile
 * waits.
 */
export function removeUnlessReferenced<T>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  work: () => Promise<T>,
): Promise<T> {
  if (spec.referredBy === undefined) return work();
  return context.transact(async (transaction) => {
    await transaction.of(documentStore).seize(spec, context.tenant, id);
    return work();
  });
}

/** Null where others came first, so that it may be tried again. */
export async function unlessConflict<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isConflict(error)) return null;
    throw error;
  }
}

/** How a document goes: marked, so that it can be restored, or for good. */
export type Departure = "delete" | "kill";

/** A deletion under way, with all that it takes along. */
interface Going {
  readonly how: Departure;
  readonly occasion: Occasion;
  /** What it has done to others, in that order. */
  readonly done: Involved[];
  /** The documents that it takes along or changes, by table and id. */
  readonly others: Set<string>;
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
  { id, rev }: Pick<StoredDocument, "id" | "rev">,
  how: Departure,
): Promise<void> {
  const occasion = { document: spec.name, id };
  const going: Going = { how, occasion, done: [], others: new Set(), restricting: [] };
  await release(spec, context, id, going);
  // Now that all have gone that go along, and no longer hold anything back.
  for (const { referrer, id: named } of going.restricting) {
    const { rows } = await namedBy(referrer, context, named, how, 1);
    if (rows.length > 0) throw inUse(referrer);
  }
  if (how === "kill" || spec.undoes !== true) return;
  const itself = { table: spec.table, id, rev, cleared: null };
  const deletions = context.transaction.of(deletionStore);
  if (going.done.length === 0) await deletions.forget(spec, context.tenant, id);
  else await deletions.note(spec, context.tenant, id, [itself, ...going.done]);
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
      const { rows, isCut } = await namedBy(referrer, context, id, going.how, maxReferrers + 1);
      const { table } = referrer.by();
      for (const row of rows) going.others.add(`${table} ${row.id}`);
      if (going.others.size > maxReferrers) throw inUse(referrer, maxReferrers);
      for (const row of rows)
        await releaseReferrer(referrer, context, row.id, { going, named: id });
      hasMore = isCut;
    }
  }
}

async function releaseReferrer(
  referrer: Referrer,
  context: ExecutionContext,
  id: string,
  { going, named }: { readonly going: Going; readonly named: string },
): Promise<void> {
  const { by, member, onDelete } = referrer;
  // One that is named on two ways has gone, or changed, on the first.
  const row = await context.transaction.of(documentStore).get(by(), context.tenant, id);
  if (row === null || (going.how === "delete" && row.isDeleted)) return;
  const spec = by();
  if (onDelete === "cascade") return takenAlong(spec, context, row, going);
  const references = { [member]: without(named, (JSON.parse(row.body) as Body)[member]) };
  const stored = await writeReferences(spec, context, row, references, going.occasion);
  // The service may set it to the same again.
  if (namesIn((JSON.parse(stored.body) as Body)[member]).includes(named)) throw inUse(referrer);
  const cleared = { member: storedName(spec.shape, member), named };
  going.done.push({ table: spec.table, id, rev: stored.rev, cleared });
}

/** A reference without one of those that it names. */
function without(id: string, value: unknown): readonly string[] | null {
  return Array.isArray(value) ? namesIn(value).filter((one) => one !== id) : null;
}

function inUse({ by, member }: Referrer, limit?: number): Error {
  const told = { document: by().name, member };
  return fail("reference_in_use", limit === undefined ? told : { ...told, limit });
}

/** Rows that are read here reach no answer. */
const unanswered = { grow: () => undefined };

/**
 * Documents that name another one, so many at most, and no more bytes than a page. What is marked
 * as deleted counts if the other one goes for good: it could not be restored without it.
 */
function namedBy(
  { by, member }: Referrer,
  context: ExecutionContext,
  id: string,
  how: Departure,
  most: number,
): Promise<{ readonly rows: readonly StoredDocument[]; readonly isCut: boolean }> {
  const spec = by();
  const field = spec.fieldSet.find(member);
  if (field === undefined) throw new TypeError(`${spec.name} has no field ${member}`);
  const query = {
    filter: nameFilter(field, id),
    sorts: [{ field: spec.fieldSet.id, direction: "asc", nulls: "first" } as const],
    withDeleted: how === "kill",
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

function nameFilter(field: FieldReference, id: string): Filter {
  const isList = field.type.endsWith("[]");
  const one = isList ? elementOf(field) : field;
  const filter = { kind: "compare", field: one, operator: "$eq", value: id } as const;
  return isList ? { kind: "quantified", field, quantifier: "$any", filter } : filter;
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
    await followChange(spec, context, "kill", current, null, going.occasion);
  } else {
    const stored = await replaceNext(spec, context, current, { isDeleted: true });
    going.done.push({ table: spec.table, id: stored.id, rev: stored.rev, cleared: null });
    await followChange(spec, context, "delete", stored, null, going.occasion);
  }
  await release(spec, context, current.id, going);
}
