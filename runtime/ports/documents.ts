// The port of document engines: rows of one type, below every rule (architecture.md "Documents on SQL").
import type { Aggregate } from "../query/aggregate.js";
import type { Filter, Position, SortKey } from "../query/ast.js";
import type { Scalar } from "../query/scalar.js";
import type { DocumentDeclaration } from "./document-spec.js";
import { storeKey } from "./store-key.js";

/** One document as it is stored. `body` is the JSON text of the declared fields. */
export interface StoredDocument {
  readonly id: string;
  readonly rev: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  readonly lastUpdateAt: string;
  readonly isDeleted: boolean;
  /** The principal that created it; null for what the service itself created. Never answered. */
  readonly ownerId: string | null;
  /** Who made this revision, where it is about to be written; null is the service itself. */
  readonly changedBy?: string | null;
  readonly body: string;
  /** Where a newer version has written it: the number of that shape, and the body as it is there. */
  readonly newer?: { readonly shape: number; readonly body: string };
  /** Where a query has sorted through references: what it sorted by, by the place of the sort. */
  readonly joined?: Readonly<Record<number, Scalar | null>>;
}

/** Documents of one type that are asked for by their ids. */
export interface NamedDocuments {
  readonly spec: DocumentDeclaration;
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

/** A window of a query: by offset, or right after a position in the order of the sorts. */
export interface Window {
  readonly limit: number;
  readonly offset: number;
  readonly after: Position | undefined;
}

/** A value of an aggregate. */
export type AggregateValue = string | number | boolean | null;

/** The key of the store below. */
export const documentStore = storeKey<DocumentStore>("documents");

/**
 * Documents within one transaction. Every method sees the rows of `tenant` alone; for a type without tenants
 * `tenant` is ignored. Faults of the engine reject with `core.infrastructure` or `core.unavailable`.
 */
export interface DocumentStore {
  /** The document, deleted or not, or null. */
  get(spec: DocumentDeclaration, tenant: string, id: string): Promise<StoredDocument | null>;
  /** Whether the document is there and live; it stays so until the transaction has ended. */
  hold(spec: DocumentDeclaration, tenant: string, id: string): Promise<boolean>;
  /** Waits for whoever holds the document, and has them wait until the transaction has ended. */
  seize(spec: DocumentDeclaration, tenant: string, id: string): Promise<void>;
  /** Adds a document, and its snapshot where the type keeps history. */
  insert(spec: DocumentDeclaration, tenant: string, document: StoredDocument): Promise<void>;
  /** Replaces the document where its revision is still `expectedRev`; says whether it did. Atomic. */
  replace(
    spec: DocumentDeclaration,
    tenant: string,
    expectedRev: number,
    document: StoredDocument,
  ): Promise<boolean>;
  /** Removes the document and its snapshots where its revision is still `expectedRev`; says whether it did. */
  remove(
    spec: DocumentDeclaration,
    tenant: string,
    id: string,
    expectedRev: number,
  ): Promise<boolean>;
  /** Which of these documents are there and live; they stay so until the transaction has ended. */
  holdMany(
    spec: DocumentDeclaration,
    tenant: string,
    ids: readonly string[],
  ): Promise<ReadonlySet<string>>;
  /** As `insert`, of several, by few statements. */
  insertMany(
    spec: DocumentDeclaration,
    tenant: string,
    documents: readonly StoredDocument[],
  ): Promise<void>;
  /** As `replace`, of several different ones, by few statements: gives the ids of those that it replaced. */
  replaceMany(
    spec: DocumentDeclaration,
    tenant: string,
    changes: readonly { readonly expectedRev: number; readonly document: StoredDocument }[],
  ): Promise<ReadonlySet<string>>;
  /** As `remove`, of several different ones, by few statements: gives the ids of those that it removed. */
  removeMany(
    spec: DocumentDeclaration,
    tenant: string,
    gone: readonly { readonly expectedRev: number; readonly id: string }[],
  ): Promise<ReadonlySet<string>>;
  /** The body as it was at a revision, or null where no snapshot is kept. */
  snapshot(
    spec: DocumentDeclaration,
    tenant: string,
    id: string,
    rev: number,
  ): Promise<string | null>;
  /** The rows of a window, in order. */
  select(
    spec: DocumentDeclaration,
    tenant: string,
    query: DocumentQuery,
    window: Window,
  ): Promise<readonly StoredDocument[]>;
  /**
   * Those of the documents that are there, live and pass, parallel to what is asked, by one statement. Where their bodies
   * exceed `maxBytes`, some are left out behind that.
   */
  named(
    asked: readonly NamedDocuments[],
    tenant: string,
    maxBytes: number,
  ): Promise<readonly (readonly StoredDocument[])[]>;
  /** The groups of a window, each with its values in the order of groups and computed; and how many groups there are. */
  aggregate(
    spec: DocumentDeclaration,
    tenant: string,
    query: DocumentQuery,
    aggregate: Aggregate,
    window: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly rows: readonly (readonly AggregateValue[])[]; readonly count: number }>;
  /** About how many rows there are, at little cost: for estimates of what queries will cost. */
  estimate(spec: DocumentDeclaration, tenant: string): Promise<number>;
  /** How many rows the query has. */
  count(spec: DocumentDeclaration, tenant: string, query: DocumentQuery): Promise<number>;
  /** About how many rows there are of all tenants, at little cost. */
  size(spec: DocumentDeclaration): Promise<number>;
  /**
   * Stores those of the next `limit` rows behind a key (of all tenants; an empty key stands before the first) anew that are of
   * an older shape. Revisions stay. Waits for no writer.
   */
  renew(
    spec: DocumentDeclaration,
    after: readonly (string | number)[],
    limit: number,
  ): Promise<Renewed>;
}

/** A portion of rows that was looked at. */
export interface Renewed {
  readonly looked: number;
  readonly renewed: number;
  /** Those of an older shape that somebody is writing just now. */
  readonly left: number;
  /** Where to go on; null at the end. */
  readonly next: readonly (string | number)[] | null;
}
