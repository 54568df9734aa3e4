// Undoes the deletion of a document, with all that it has done to others (registry "References").
import { fail, isConflict, ServiceError } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { deletionStore, type Involved } from "../../ports/deletions.js";
import type { AnyDocumentSpec, DocumentSpec } from "../../ports/document-spec.js";
import { documentStore, type StoredDocument } from "../../ports/documents.js";
import { followChange, type Occasion } from "./follow-change.js";
import { holdReferences } from "./references.js";
import { replaceNext, writeReference } from "./referrer.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * Brings back what the deletion of a document took along, and the references to it that were
 * cleared and still are. `restoreFirst` brings back the document itself; null if somebody else was
 * faster. Throws what stands against the document, or `restore_refused` with what stands against
 * another one: then nothing has happened.
 */
export function undoDeletion(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  restoreFirst: () => Promise<StoredDocument | null>,
): Promise<StoredDocument | null> {
  return context.transact(async (transaction) => {
    const first = await restoreFirst();
    if (first === null) return null;
    const occasion: Occasion = { document: spec.name, id };
    const involved = await transaction.of(deletionStore).take(spec, context.tenant, id);
    const back: [AnyDocumentSpec, StoredDocument][] = [];
    for (const { table, id: other } of involved.filter(({ cleared }) => cleared === null)) {
      const of = affectedBy(spec).types.get(table);
      const stored =
        of === undefined
          ? null
          : await unlessRefused(of, other, () => restoreOther(of, context, other));
      if (of !== undefined && stored !== null) back.push([of, stored]);
    }
    // Documents that came back may name each other.
    await holdAll(spec, context, first);
    for (const [of, stored] of back)
      await unlessRefused(of, stored.id, () => holdAll(of, context, stored));
    for (const [of, stored] of back)
      await followChange(of, context, "restore", stored, null, occasion);
    for (const one of involved) await nameAgain(spec, context, one, occasion);
    return first;
  });
}

/** The document live again; null if it is gone for good, or has been restored meanwhile. */
async function restoreOther(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
): Promise<StoredDocument | null> {
  const current = await context.transaction.of(documentStore).get(spec, context.tenant, id);
  if (current === null || !current.isDeleted) return null;
  return replaceNext(spec, context, current, { isDeleted: false });
}

/** Whether what they name is there is asked, not who sees it: they have named it before. */
async function holdAll(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  { id, body }: StoredDocument,
): Promise<void> {
  const members = JSON.parse(body) as Body;
  await holdReferences(spec, context.beyondScopes, members, Object.keys(members), id);
}

/** Has a document name what it named, unless it names another one by now. */
async function nameAgain(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  { table, id, cleared }: Involved,
  occasion: Occasion,
): Promise<void> {
  const reference =
    cleared === null ? undefined : affectedBy(spec).references.get(`${table}.${cleared.member}`);
  if (cleared === null || reference === undefined) return;
  const { by, target } = reference;
  const documents = context.transaction.of(documentStore);
  const current = await documents.get(by, context.tenant, id);
  if (current === null) return;
  const value = (JSON.parse(current.body) as Body)[cleared.member] ?? null;
  if (value !== null || !(await documents.hold(target, context.tenant, cleared.named))) return;
  const named = { [cleared.member]: cleared.named };
  await unlessRefused(by, id, () => writeReference(by, context, current, named, occasion));
}

/** Throws `restore_refused` for what stands against one of the others. */
async function unlessRefused<T>(
  { name }: AnyDocumentSpec,
  id: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500 || isConflict(error)) throw error;
    const { code, context } = error;
    throw fail(
      "restore_refused",
      { document: name, id, error: { code, context } },
      { cause: error },
    );
  }
}

/** What the deletion of a document may reach. */
interface Affected {
  /** Types by their tables. */
  readonly types: ReadonlyMap<string, AnyDocumentSpec>;
  /** References by the tables and members that have them, with what they name. */
  readonly references: ReadonlyMap<
    string,
    { readonly by: AnyDocumentSpec; readonly target: AnyDocumentSpec }
  >;
}

const known = new WeakMap<AnyDocumentSpec, Affected>();

function affectedBy(spec: AnyDocumentSpec): Affected {
  const found = known.get(spec) ?? findAffected(spec);
  known.set(spec, found);
  return found;
}

function findAffected(spec: AnyDocumentSpec): Affected {
  const types = new Map<string, DocumentSpec>();
  const references = new Map<string, { by: AnyDocumentSpec; target: AnyDocumentSpec }>();
  const visit = (target: AnyDocumentSpec): void => {
    for (const { by: of, member } of target.referredBy ?? []) {
      const by = of();
      references.set(`${by.table}.${member}`, { by, target });
      if (types.has(by.table)) continue;
      types.set(by.table, by);
      visit(by);
    }
  };
  visit(spec);
  return { types, references };
}
