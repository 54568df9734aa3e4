// Undoes the deletion of a document, with all that it has done to others (registry "References").
import { fail, isConflict, ServiceError } from "../../contract/errors.js";
import { declaredName } from "../../contract/stored-members.js";
import type { ExecutionContext } from "../../operations/context.js";
import { deletionStore, type Involved } from "../../ports/deletions.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { followChange, type Occasion } from "./follow-change.js";
import { callerSight } from "./reach.js";
import { namesGained } from "./names.js";
import { holdReferences } from "./references.js";
import { bodyNaming, replaceNext, writeReferences } from "./referrer.js";
import { findDocument } from "./scoped.js";

type Body = Readonly<Record<string, unknown>>;

/** One of the others, with what a deletion has done to it. */
interface Affected {
  readonly spec: AnyDocumentSpec;
  readonly id: string;
  /** The revision at which it was marked; null if it was left without references alone. */
  markedAt: number | null;
  /** What it named, by its members. */
  readonly named: Record<string, string[]>;
}

/** One of the others as it has been written. */
interface Restored {
  readonly affected: Affected;
  /** What it names from now on, by its members; null if it stays deleted. */
  readonly names: Body | null;
  /** What it had before. */
  readonly before: Body;
}

/** Why one of the others can't be brought back. */
class Refusal extends Error {
  readonly affected: Affected;
  override readonly cause: ServiceError;

  constructor(affected: Affected, cause: ServiceError) {
    super(cause.message);
    this.affected = affected;
    this.cause = cause;
  }
}

/**
 * Brings back what the deletion of a document took along, and the references that it cleared and
 * nobody has written since. `restore` brings back the document itself; null if somebody else was
 * faster. Throws what stands against the document, or `restore_refused` with what stands against
 * another one: then nothing has happened.
 */
export async function undoDeletion(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  restore: () => Promise<StoredDocument | null>,
): Promise<StoredDocument | null> {
  try {
    return await context.transact(() => restoreAll(spec, context, current, restore));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { affected, cause } = error;
    const told = {
      document: affected.spec.name,
      error: { code: cause.code, context: cause.context },
    };
    const id = (await isSeen(affected, context)) ? { id: affected.id } : {};
    throw fail("restore_refused", { ...told, ...id }, { cause });
  }
}

async function restoreAll(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  current: StoredDocument,
  restore: () => Promise<StoredDocument | null>,
): Promise<StoredDocument | null> {
  const deletions = context.transaction.of(deletionStore);
  const [itself, ...done] = await deletions.noted(spec, context.tenant, current.id);
  const first = await restore();
  if (first === null) return null;
  // A version that notes nothing may have deleted it again since.
  const affected = itself?.rev === current.rev ? affectedBy(spec, done) : [];
  const back = await findBack(context, affected);
  back.add(keyOf(spec, current.id));
  const occasion = { document: spec.name, id: current.id };
  const written: Restored[] = [];
  for (const one of affected) {
    const restored = await orRefuse(one, () => undoOne(context, one, back, occasion));
    if (restored !== null) written.push(restored);
  }
  // Documents that come back may name each other, so that all are there before it is asked.
  await holdNames(spec, context, referencesAlone(spec, first), first.id);
  for (const { affected: one, names, before } of written)
    if (names !== null)
      await orRefuse(one, () => holdNames(one.spec, context, names, one.id, before));
  // Whoever removes one of the others for good holds it, and then wants to forget what is noted.
  await deletions.forget(spec, context.tenant, current.id);
  return first;
}

/** What is known of the others, each once, in the order of the deletion. */
function affectedBy(spec: AnyDocumentSpec, done: readonly Involved[]): readonly Affected[] {
  const types = typesReferringTo(spec);
  const all = new Map<string, Affected>();
  for (const { table, id, rev, cleared } of done) {
    const type = types.get(table);
    if (type === undefined) continue;
    const key = keyOf(type, id);
    const one = all.get(key) ?? { spec: type, id, markedAt: null, named: {} };
    all.set(key, one);
    if (cleared === null) one.markedAt = rev;
    else (one.named[declaredName(type.shape, cleared.member)] ??= []).push(cleared.named);
  }
  return [...all.values()];
}

/** The keys of those that are still as the deletion has left them. None changes from here on. */
async function findBack(
  context: ExecutionContext,
  affected: readonly Affected[],
): Promise<Set<string>> {
  const documents = context.transaction.of(documentStore);
  const back = new Set<string>();
  for (const { spec, id, markedAt } of affected) {
    await documents.seize(spec, context.tenant, id);
    if (markedAt === null) continue;
    const row = await documents.get(spec, context.tenant, id);
    if (row?.isDeleted === true && row.rev === markedAt) back.add(keyOf(spec, id));
  }
  return back;
}

/** Brings one back and has it name what it named; null where there is nothing to do. */
async function undoOne(
  context: ExecutionContext,
  affected: Affected,
  back: ReadonlySet<string>,
  occasion: Occasion,
): Promise<Restored | null> {
  const { spec, id, named } = affected;
  const row = await context.transaction.of(documentStore).get(spec, context.tenant, id);
  if (row === null) return null;
  const body = JSON.parse(row.body) as Body;
  const again = Object.entries(named).flatMap(([member, ids]) => {
    const of = spec.references?.[member]?.();
    const there = of === undefined ? [] : ids.filter((target) => back.has(keyOf(of, target)));
    const value = withNames(body[member] ?? null, there);
    return value === undefined ? [] : [[member, value] as const];
  });
  const references = Object.fromEntries(again);
  expectValid(spec, { ...body, ...references }, Object.keys(references));
  if (!back.has(keyOf(spec, id))) {
    if (again.length === 0) return null;
    const { isDeleted } = await writeReferences(spec, context, row, references, occasion);
    // It was there all along: what else it names is not asked.
    return { affected, names: isDeleted ? null : references, before: body };
  }
  const text =
    again.length === 0 ? row.body : (await bodyNaming(spec, context, row, references)).body;
  const stored = await replaceNext(spec, context, row, { body: text, isDeleted: false });
  await followChange(spec, context, "restore", stored, null, occasion);
  return { affected, names: referencesAlone(spec, stored), before: {} };
}

/** Refuses lists that have become longer than they may be by now. */
function expectValid(spec: AnyDocumentSpec, body: Body, members: readonly string[]): void {
  if (members.length === 0) return;
  const faults = (spec.validateBody?.(body) ?? []).filter(({ path }) =>
    members.includes(path.split("/")[1] ?? ""),
  );
  if (faults.length > 0) throw fail("core.validation", { errors: faults });
}

/** A reference with what it named before, at the end of a list; undefined where nothing is new. */
function withNames(value: unknown, ids: readonly string[]): unknown {
  if (Array.isArray(value)) {
    const gained = namesGained(ids, value);
    return gained.length === 0 ? undefined : [...(value as readonly unknown[]), ...gained];
  }
  return value === null ? ids[0] : undefined;
}

/** What a document refers to: as long as others are brought back, no more is needed. */
function referencesAlone({ references = {} }: AnyDocumentSpec, { body }: StoredDocument): Body {
  const members = JSON.parse(body) as Body;
  return Object.fromEntries(Object.keys(references).map((member) => [member, members[member]]));
}

/** Whether what they name is there is asked, not who sees it: they have named it before. */
async function holdNames(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  names: Body,
  own: string,
  before: Body = {},
): Promise<void> {
  await holdReferences(spec, context.beyondScopes, names, Object.keys(names), { own, before });
}

async function orRefuse<T>(affected: Affected, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500 || isConflict(error)) throw error;
    throw new Refusal(affected, error);
  }
}

/** Whether the caller could read one of the others, once it was there. */
async function isSeen({ spec, id }: Affected, context: ExecutionContext): Promise<boolean> {
  try {
    const scope = await callerSight(spec, context);
    return (await findDocument(spec, context.scopedTo(spec.name, scope), id)) !== null;
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return false;
    throw error;
  }
}

function keyOf({ table }: AnyDocumentSpec, id: string): string {
  return `${table} ${id}`;
}

const known = new WeakMap<AnyDocumentSpec, ReadonlyMap<string, AnyDocumentSpec>>();

/** The types that refer to one, directly or over others, by their tables. */
function typesReferringTo(spec: AnyDocumentSpec): ReadonlyMap<string, AnyDocumentSpec> {
  const found = known.get(spec);
  if (found !== undefined) return found;
  const types = new Map<string, AnyDocumentSpec>();
  const visit = ({ referredBy = [] }: AnyDocumentSpec): void => {
    for (const by of referredBy.map((referrer) => referrer.by())) {
      if (types.has(by.table)) continue;
      types.set(by.table, by);
      visit(by);
    }
  };
  visit(spec);
  known.set(spec, types);
  return types;
}
