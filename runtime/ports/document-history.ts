// The port of the history of documents: their revisions, and documents that were deleted
// (decisions.md §4 "Revisions").
import type { AnyDocumentSpec } from "./document-spec.js";
import { storeKey } from "./store-key.js";

/** What is known about a revision besides its body. */
export interface KeptRevision {
  readonly rev: number;
  /** RFC 3339; null if an earlier version of opwright kept it, which noted no time. */
  readonly changedAt: string | null;
  /** The principal; null for the service itself, or if nobody was noted. */
  readonly changedBy: string | null;
  readonly isDeleted: boolean;
}

/** A revision, whose it is, and its body in the present shape. */
export interface WholeRevision extends KeptRevision {
  readonly id: string;
  readonly body: string;
}

/** A document that was deleted, and perhaps long enough ago to be removed for good. */
export interface DeletedDocument {
  readonly tenant: string;
  readonly id: string;
  /** RFC 3339: when it was deleted. */
  readonly lastUpdateAt: string;
}

/** The position after one of them, in the order of deletion. */
export type DeletedPosition = Pick<DeletedDocument, "lastUpdateAt" | "id">;

/** The key of the store below. */
export const historyStore = storeKey<HistoryStore>("documents' history");

/** The history of documents within one transaction. `tenant` works as in `DocumentStore`. */
export interface HistoryStore {
  /**
   * Up to `limit` revisions that are kept of a document, newest first: those before the revision
   * `before`, or all if null.
   */
  revisions(
    spec: AnyDocumentSpec,
    tenant: string,
    id: string,
    before: number | null,
    limit: number,
  ): Promise<readonly KeptRevision[]>;
  /** A revision, with its body in the present shape; null if it isn't kept. */
  revision(
    spec: AnyDocumentSpec,
    tenant: string,
    id: string,
    rev: number,
  ): Promise<(KeptRevision & { readonly body: string }) | null>;
  /** Up to `limit` revisions of a tenant, in the order of documents and then of revisions. */
  walk(
    spec: AnyDocumentSpec,
    tenant: string,
    after: Pick<WholeRevision, "id" | "rev"> | null,
    limit: number,
  ): Promise<readonly WholeRevision[]>;
  /** Those of several revisions that are kept. */
  among(
    spec: AnyDocumentSpec,
    tenant: string,
    asked: readonly Pick<WholeRevision, "id" | "rev">[],
  ): Promise<readonly WholeRevision[]>;
  /** Adds revisions that aren't kept yet. */
  add(spec: AnyDocumentSpec, tenant: string, revisions: readonly WholeRevision[]): Promise<void>;
  /** Notes when revisions were made, and by whom. */
  sign(
    spec: AnyDocumentSpec,
    tenant: string,
    revisions: readonly Pick<WholeRevision, "id" | "rev" | "changedAt" | "changedBy">[],
  ): Promise<void>;
  /** Removes the revisions of a document before `rev`; returns how many. */
  purge(spec: AnyDocumentSpec, tenant: string, id: string, rev: number): Promise<number>;
  /**
   * Up to `limit` documents of all tenants that were deleted up to `until` (RFC 3339), in that
   * order, from after `after`.
   */
  deletedUntil(
    spec: AnyDocumentSpec,
    until: string,
    after: DeletedPosition | null,
    limit: number,
  ): Promise<readonly DeletedDocument[]>;
  /**
   * Removes the oldest revisions of documents that have more than `keep`. Looks at up to `limit`
   * documents after a key, over all tenants (an empty key is before the first one), and removes up
   * to `limit` revisions.
   */
  trim(
    spec: AnyDocumentSpec,
    keep: number,
    after: readonly (string | number)[],
    limit: number,
  ): Promise<{
    readonly removed: number;
    /** The key after which to continue; null at the end. */
    readonly next: readonly (string | number)[] | null;
  }>;
}
