// The port of what deletions have done to other documents, so that a restore undoes all of it.
import type { AnyDocumentSpec } from "./document-spec.js";
import { storeKey } from "./store-key.js";

/** A document that a deletion has marked, or that it has left without a reference. */
export interface Involved {
  /** The table of its type. */
  readonly table: string;
  readonly id: string;
  /** Its revision afterwards. */
  readonly rev: number;
  /** The reference that was cleared, by its name in rows, and the id that it had. */
  readonly cleared: { readonly member: string; readonly named: string } | null;
}

/** The key of the store below. */
export const deletionStore = storeKey<DeletionStore>("deletions");

/**
 * What deletions have done, within one transaction. A deletion is known by the document that was
 * deleted; the tenant is ignored for a type without tenants.
 */
export interface DeletionStore {
  /** Notes what a deletion has done, in that order, instead of what was noted before. */
  note(
    spec: AnyDocumentSpec,
    tenant: string,
    id: string,
    involved: readonly Involved[],
  ): Promise<void>;
  /** What the deletion of a document has done, in that order. */
  noted(spec: AnyDocumentSpec, tenant: string, id: string): Promise<readonly Involved[]>;
  /**
   * Up to `limit` ids of documents whose deletions have done something, in order, after `after`.
   */
  list(
    spec: AnyDocumentSpec,
    tenant: string,
    after: string | null,
    limit: number,
  ): Promise<readonly string[]>;
  /** Forgets the deletion of a document. */
  forget(spec: AnyDocumentSpec, tenant: string, id: string): Promise<void>;
  /** Forgets that deletions have cleared these references of a document, by their names in rows. */
  forgetReferences(
    spec: AnyDocumentSpec,
    tenant: string,
    id: string,
    members: readonly string[],
  ): Promise<void>;
  /** Follows a document that was marked by a deletion to its next revision. */
  follow(spec: AnyDocumentSpec, tenant: string, id: string, rev: number): Promise<void>;
}

/** Members that refer to documents whose deletions are noted. */
function notedReferences({ references = {} }: AnyDocumentSpec): readonly string[] {
  return Object.entries(references).flatMap(([member, of]) => {
    const target = of();
    return (target.view?.of ?? target).undoes === true ? [member] : [];
  });
}

/** Those of them that a deletion may have cleared: what may be null, and lists. */
export function clearableReferences(spec: AnyDocumentSpec): readonly string[] {
  const { nullable, fields } = spec;
  return notedReferences(spec).filter(
    (member) => nullable.includes(member) || fields[member]?.endsWith("[]") === true,
  );
}

/** Whether deletions may note something of such documents: their own, or those of others. */
export function mayBeInvolved(spec: AnyDocumentSpec): boolean {
  return spec.undoes === true || notedReferences(spec).length > 0;
}
