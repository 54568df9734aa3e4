// The port of what documents were: their revisions, and those that are deleted (decisions.md §4 "Revisions").
import type { DocumentDeclaration } from "./document-spec.js";
import { storeKey } from "./store-key.js";

/** What is known of a revision besides its body. */
export interface KeptRevision {
  readonly rev: number;
  /** RFC 3339; null where a version kept it that noted no time. */
  readonly changedAt: string | null;
  /** The principal; null for the service itself, and where nobody was noted. */
  readonly changedBy: string | null;
  readonly isDeleted: boolean;
}

/** A document that has been deleted for long. */
export interface DeletedDocument {
  readonly tenant: string;
  readonly id: string;
  /** RFC 3339: when it was deleted. */
  readonly lastUpdateAt: string;
}

/** The place behind one of them, in the order of their deletion. */
export type DeletedPosition = Pick<DeletedDocument, "lastUpdateAt" | "id">;

/** The key of the store below. */
export const historyStore = storeKey<HistoryStore>("documents' history");

/** What documents were, within one transaction. `tenant` is as for `DocumentStore`. */
export interface HistoryStore {
  /** Revisions that are kept of a document, the newest first, from before one of them. */
  revisions(
    spec: DocumentDeclaration,
    tenant: string,
    id: string,
    before: number | null,
    limit: number,
  ): Promise<readonly KeptRevision[]>;
  /** A revision with its body as this version declares it; null where it is not kept. */
  revision(
    spec: DocumentDeclaration,
    tenant: string,
    id: string,
    rev: number,
  ): Promise<(KeptRevision & { readonly body: string }) | null>;
  /** Documents of all tenants that were deleted up to a time, in that order, from behind one of them. */
  deletedUntil(
    spec: DocumentDeclaration,
    until: string,
    after: DeletedPosition | null,
    limit: number,
  ): Promise<readonly DeletedDocument[]>;
  /**
   * Removes revisions of the next documents behind a key (of all tenants; an empty key stands before the first) that are more
   * than `keep`, `limit` documents and revisions at most.
   */
  trim(
    spec: DocumentDeclaration,
    keep: number,
    after: readonly (string | number)[],
    limit: number,
  ): Promise<{
    readonly removed: number;
    /** Where to go on; null at the end. */
    readonly next: readonly (string | number)[] | null;
  }>;
}
