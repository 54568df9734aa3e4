// The port of document engines, which store the rows of a type and know no guards or scopes
// (architecture.md "Documents on SQL").
import type { Aggregate } from "../query/aggregate.js";
import type { Filter, Position, SortKey } from "../query/ast.js";
import type { Scalar } from "../query/scalar.js";
import type { AnyDocumentSpec } from "./document-spec.js";
import type { CountedPage } from "./pages.js";
import { storeKey } from "./store-key.js";

/** One document as it is stored. `body` is the JSON text of the declared fields. */
export interface StoredDocument {
  readonly id: string;
  readonly rev: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly lastUpdateAt: string;
  readonly isDeleted: boolean;
  /** The principal that created it; null if the service itself did. Answers never contain it. */
  readonly ownerId: string | null;
  /** Who makes this revision, if it is about to be written; null is the service itself. */
  readonly changedBy?: string | null;
  readonly body: string;
  /**
   * If a newer version of the service wrote it: the number of its shape, and the body in that
   * shape.
   */
  readonly newer?: { readonly shape: number; readonly body: string };
  /** Members of the row that it keeps for the version before, by their names in rows. */
  readonly kept?: Readonly<Record<string, unknown>>;
  /**
   * If a query sorts through references: the values that it sorted by, by the index of the sort.
   */
  readonly joined?: Readonly<Record<number, Scalar | null>>;
}

/** Documents of one type that are requested by their ids. */
export interface NamedDocuments {
  readonly spec: AnyDocumentSpec;
  readonly ids: readonly string[];
  /** What they must pass to be seen. */
  readonly filter: Filter;
}

/** Which rows, in which order. */
export interface DocumentQuery {
  readonly filter: Filter;
  readonly sorts: readonly SortKey[];
  readonly withDeleted: boolean;
}

/** A window of a query by its offset. */
export interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** A window of a query: by offset, or right after a position in the order of the sorts. */
export interface Window extends PageWindow {
  readonly after: Position | undefined;
}

/** A value of an aggregate. */
export type AggregateValue = string | number | boolean | null;

/** The key of the store below. */
export const documentStore = storeKey<DocumentStore>("documents");

/**
 * Documents within one transaction. Methods with a `tenant` only see its rows; for a type without
 * tenants it is ignored. Faults of the engine reject with `core.infrastructure` or
 * `core.unavailable`.
 */
export interface DocumentStore {
  /** The document, even if it is deleted; null if there is none. */
  get(spec: AnyDocumentSpec, tenant: string, id: string): Promise<StoredDocument | null>;
  /**
   * Whether the document exists and isn't deleted. It is locked so that this stays true until the
   * transaction ends.
   */
  hold(spec: AnyDocumentSpec, tenant: string, id: string): Promise<boolean>;
  /**
   * Waits until nobody else changes these documents, where they aren't deleted, and has nobody
   * change them until the transaction ends. Others may refer to them meanwhile.
   */
  lock(spec: AnyDocumentSpec, tenant: string, ids: readonly string[]): Promise<void>;
  /**
   * Locks the document against `hold`: waits for those who hold it, and makes others wait until the
   * transaction ends.
   */
  seize(spec: AnyDocumentSpec, tenant: string, id: string): Promise<void>;
  /**
   * Waits until no other transaction holds the name, and holds it until this one ends. What others
   * have committed by then is seen by statements that begin afterwards.
   */
  holdName(name: string): Promise<void>;
  /** Adds a document, and its snapshot if the type keeps history. */
  insert(spec: AnyDocumentSpec, tenant: string, document: StoredDocument): Promise<void>;
  /**
   * Replaces the document if its revision is still `expectedRev`; returns whether it did. Atomic.
   */
  replace(
    spec: AnyDocumentSpec,
    tenant: string,
    expectedRev: number,
    document: StoredDocument,
  ): Promise<boolean>;
  /**
   * Removes the document and its snapshots if its revision is still `expectedRev`; returns whether
   * it did.
   */
  remove(spec: AnyDocumentSpec, tenant: string, id: string, expectedRev: number): Promise<boolean>;
  /** As `hold`, of several documents: returns the ids of those that exist and aren't deleted. */
  holdMany(
    spec: AnyDocumentSpec,
    tenant: string,
    ids: readonly string[],
  ): Promise<ReadonlySet<string>>;
  /** As `insert`, of several documents, in few statements. */
  insertMany(
    spec: AnyDocumentSpec,
    tenant: string,
    documents: readonly StoredDocument[],
  ): Promise<void>;
  /**
   * Adds those of several documents whose ids aren't taken, with their snapshots if the type keeps
   * history; returns the ids that it added.
   */
  insertMissing(
    spec: AnyDocumentSpec,
    tenant: string,
    documents: readonly StoredDocument[],
  ): Promise<ReadonlySet<string>>;
  /**
   * As `replace`, of several different documents, in few statements: returns the ids of those that
   * it replaced.
   */
  replaceMany(
    spec: AnyDocumentSpec,
    tenant: string,
    changes: readonly { readonly expectedRev: number; readonly document: StoredDocument }[],
  ): Promise<ReadonlySet<string>>;
  /**
   * As `remove`, of several different documents, in few statements: returns the ids of those that
   * it removed.
   */
  removeMany(
    spec: AnyDocumentSpec,
    tenant: string,
    gone: readonly { readonly expectedRev: number; readonly id: string }[],
  ): Promise<ReadonlySet<string>>;
  /** The body as it was at a revision; null if no snapshot of it is kept. */
  snapshot(spec: AnyDocumentSpec, tenant: string, id: string, rev: number): Promise<string | null>;
  /** The rows of a window, in order. */
  select(
    spec: AnyDocumentSpec,
    tenant: string,
    query: DocumentQuery,
    window: Window,
  ): Promise<readonly StoredDocument[]>;
  /**
   * The rows of a window that begins at an offset, in order, and how many the query has, counted no
   * further than `upTo`.
   */
  countedPage(
    spec: AnyDocumentSpec,
    tenant: string,
    query: DocumentQuery,
    window: PageWindow,
    upTo: number,
  ): Promise<CountedPage<StoredDocument>>;
  /**
   * For each entry of `asked`, in the same order: those of its documents that exist, aren't deleted
   * and pass its filter. One statement. The document whose body exceeds `maxBytes`, counted over
   * all, is the last one; the rest is left out.
   */
  named(
    asked: readonly NamedDocuments[],
    tenant: string,
    maxBytes: number,
  ): Promise<readonly (readonly StoredDocument[])[]>;
  /**
   * The groups of a window, and how many there are in all. A row has the group's fields first, then
   * the computed values.
   */
  aggregate(
    spec: AnyDocumentSpec,
    tenant: string,
    query: DocumentQuery,
    aggregate: Aggregate,
    window: PageWindow,
  ): Promise<CountedPage<readonly AggregateValue[]>>;
  /** About how many rows there are. It is cheap, and serves to estimate what queries will cost. */
  estimate(spec: AnyDocumentSpec, tenant: string): Promise<number>;
  /** How many rows the query has. */
  count(
    spec: AnyDocumentSpec,
    tenant: string,
    query: DocumentQuery,
    /** Where counting ends; all are counted where it is left out. */
    upTo?: number,
  ): Promise<number>;
  /**
   * Up to `limit` documents of all tenants that a principal has created, deleted or not, in the
   * order of their ids, from after `after`. The tenant is "" for a type without tenants.
   */
  owned(
    spec: AnyDocumentSpec,
    ownerId: string,
    after: string | null,
    limit: number,
  ): Promise<readonly { readonly tenant: string; readonly id: string }[]>;
  /**
   * The tenants that have documents of the type, deleted or not, in the order of their code units;
   * "" alone for a type without tenants.
   */
  tenants(spec: AnyDocumentSpec): Promise<readonly string[]>;
  /** About how many rows all tenants have together. It is cheap. */
  size(spec: AnyDocumentSpec): Promise<number>;
  /**
   * Looks at the next `limit` rows after a key, over all tenants (an empty key is before the first
   * row), and rewrites those of an older shape. Revisions don't change. Rows that somebody is
   * writing are skipped, and so are those that a unique index refuses as they would be: `attempt`
   * runs a part of the transaction that may fail alone.
   */
  renew(
    spec: AnyDocumentSpec,
    after: readonly (string | number)[],
    limit: number,
    attempt: <T>(work: () => Promise<T>) => Promise<T>,
  ): Promise<Renewed>;
}

/** What `renew` did: how many rows it looked at, and how many it rewrote. */
export interface Renewed {
  readonly looked: number;
  readonly renewed: number;
  /** Rows of an older shape that were skipped because somebody was writing them. */
  readonly left: number;
  /** The ids of rows that stay as they are, because another has their values of a unique rule. */
  readonly clashing: readonly string[];
  /** The key after which to continue; null at the end. */
  readonly next: readonly (string | number)[] | null;
}
