// The port of what deletions have done to other documents, so that a restore undoes all of it.
import type { AnyDocumentSpec, Referrer } from "./document-spec.js";
import { storeKey } from "./store-key.js";

/** A document that a deletion has taken along, or that it has left without a reference. */
export interface Involved {
  /** The table of its type. */
  readonly table: string;
  readonly id: string;
  /** The reference that was cleared, and the id that it had; null if the document went along. */
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
  /** What the deletion of a document has done, in that order. It is no longer noted afterwards. */
  take(spec: AnyDocumentSpec, tenant: string, id: string): Promise<readonly Involved[]>;
}

/** Whether the deletion of such a document may do something to others that a restore undoes. */
export function isUndoable({ softDelete, referredBy = [] }: AnyDocumentSpec): boolean {
  return softDelete && referredBy.some(isAffected);
}

/** Whether deletions may note something of such documents: their own, or those of others. */
export function mayBeInvolved(spec: AnyDocumentSpec): boolean {
  if (isUndoable(spec)) return true;
  return Object.values(spec.references ?? {}).some((of) => {
    const target = of();
    const { softDelete, referredBy = [] } = target.view?.of ?? target;
    return softDelete && referredBy.some((one) => one.by().table === spec.table && isAffected(one));
  });
}

function isAffected({ onDelete }: Referrer): boolean {
  return onDelete !== "restrict";
}
