// The port of search engines: documents that match words, ranked, counted and grouped
// (architecture.md "Engines").
import type { DocumentQuery, PageWindow, StoredDocument, Window } from "./documents.js";
import type { CountedPage } from "./pages.js";
import type { FieldReference } from "../query/fields.js";
import type { Scalar } from "../query/scalar.js";
import type { Match } from "../query/match.js";
import type { SearchSpec } from "./search-spec.js";
import { storeKey } from "./store-key.js";

export interface SearchQuery extends DocumentQuery {
  /** The words to search for; null selects by filter alone, and every score is 0. */
  readonly match: Match | null;
  /** Weights of the fields to search, by dotted path. */
  readonly weights: Readonly<Record<string, number>>;
  /** How many of the best matches count at all; null is all of them. */
  readonly maxCandidates: number | null;
}

export interface ScoredDocument extends StoredDocument {
  /**
   * Higher is better. It depends on the document and the query alone, and is the same on every
   * engine.
   */
  readonly score: number;
}

/** A value of a field, and how many of the matching documents have it. */
export interface FacetValue {
  readonly value: Scalar;
  readonly count: number;
}

/** The key of the store below. */
export const searchStore = storeKey<SearchStore>("search");

/**
 * Search within one transaction. As in the document store, methods with a `tenant` only see its
 * rows.
 */
export interface SearchStore {
  /** The matching documents of a window, in the order of the query's sorts. */
  select(
    spec: SearchSpec,
    tenant: string,
    query: SearchQuery,
    window: Window,
  ): Promise<readonly ScoredDocument[]>;
  /**
   * The matching documents of a window that begins at an offset, in order, and how many match.
   */
  countedPage(
    spec: SearchSpec,
    tenant: string,
    query: SearchQuery,
    window: PageWindow,
  ): Promise<CountedPage<ScoredDocument>>;
  /** How many documents match. */
  count(spec: SearchSpec, tenant: string, query: SearchQuery): Promise<number>;
  /**
   * The `size` most frequent values of a field among the matches; equally frequent ones are in the
   * order of the values.
   */
  facet(
    spec: SearchSpec,
    tenant: string,
    query: SearchQuery,
    field: FieldReference,
    size: number,
  ): Promise<readonly FacetValue[]>;
  /**
   * Words of the index that may be another spelling of `word`: at least all that begin with its
   * first letter and differ by at most `edits` in length. There may be others among them, so the
   * caller has to compare them.
   */
  wordsLike(
    spec: SearchSpec,
    tenant: string,
    word: string,
    edits: number,
  ): Promise<readonly string[]>;
  /** Those of the words that a document has which the query's filter passes, in any order. */
  wordsWithin(
    spec: SearchSpec,
    tenant: string,
    query: DocumentQuery,
    words: readonly string[],
  ): Promise<readonly string[]>;
  /** How many documents a rebuild has to look at, over all tenants. */
  rebuildSize(spec: SearchSpec): Promise<number>;
  /**
   * One step of rebuilding the index, over all tenants: checks and corrects up to `limit`
   * documents, rows or words. `from` is null at first, then `next` of the step before. Steps may be
   * repeated, and keep what others write between two steps. A step locks the documents that it
   * reads, and waits for a writer only if `from.isTaken`.
   */
  rebuildStep(spec: SearchSpec, from: RebuildPosition | null, limit: number): Promise<RebuildStep>;
}

/**
 * Where a rebuild continues. It adds documents, then removes rows whose document is gone, then
 * words that no row has.
 */
export interface RebuildPosition {
  readonly part: "documents" | "rows" | "words";
  /** The key of the last row that was looked at; empty at the beginning. */
  readonly after: readonly (string | number)[];
  /** A writer has locked the next document: the step waits for it, and looks at no other. */
  readonly isTaken?: true;
}

export interface RebuildStep {
  /** How many documents the step has looked at. */
  readonly documents: number;
  /** Null if nothing is left to do. */
  readonly next: RebuildPosition | null;
}

/** The score as a field, for sorting by it. */
export const scoreField: FieldReference = { path: "score", type: "number", isColumn: true };
