// The port of search engines: documents that match words, ranked, counted and grouped (architecture.md "Engines").
import type { DocumentQuery, StoredDocument, Window } from "./documents.js";
import type { FieldReference } from "../query/fields.js";
import type { Scalar } from "../query/scalar.js";
import type { Match } from "../query/match.js";
import type { SearchSpec } from "./search-spec.js";
import { storeKey } from "./store-key.js";

export interface SearchQuery extends DocumentQuery {
  /** Null browses by filter alone; every score is 0 then. */
  readonly match: Match | null;
  /** Weights of the fields that are looked at, by dotted path. */
  readonly weights: Readonly<Record<string, number>>;
  /** Only the best so many are looked at, or null for all. */
  readonly maxCandidates: number | null;
}

export interface ScoredDocument extends StoredDocument {
  /** The higher the better. It depends on the document and the query alone, and is the same on every engine. */
  readonly score: number;
}

export interface FacetValue {
  readonly value: Scalar;
  readonly count: number;
}

/** The key of the store below. */
export const searchStore = storeKey<SearchStore>("search");

/** Search within one transaction. Every method sees the rows of `tenant` alone, as the document store does. */
export interface SearchStore {
  select(
    spec: SearchSpec,
    tenant: string,
    query: SearchQuery,
    window: Window,
  ): Promise<readonly ScoredDocument[]>;
  count(spec: SearchSpec, tenant: string, query: SearchQuery): Promise<number>;
  /** The most frequent values of a field among what matches, then in order of the values. */
  facet(
    spec: SearchSpec,
    tenant: string,
    query: SearchQuery,
    field: FieldReference,
    size: number,
  ): Promise<readonly FacetValue[]>;
  /**
   * Words of the index that may be another spelling of `word`: at least those that begin with its first letter and
   * differ by at most `edits` in length. Others may be among them; the caller measures.
   */
  wordsLike(
    spec: SearchSpec,
    tenant: string,
    word: string,
    edits: number,
  ): Promise<readonly string[]>;
  /** How many documents a rebuild has to look at, of all tenants. */
  rebuildSize(spec: SearchSpec): Promise<number>;
  /**
   * One step of making the index anew, over all tenants: looks at `limit` documents, rows or words at most and brings
   * them in line; `from` is null at first, then what the step before said. A step may be repeated, and what others write
   * between two steps stays. Within a step nobody else changes the documents that it has read, and it waits for a writer
   * only where `from` says so.
   */
  rebuildStep(spec: SearchSpec, from: RebuildPosition | null, limit: number): Promise<RebuildStep>;
}

/** Where a rebuild goes on: documents are put in, then rows without a document go out, then words without a row. */
export interface RebuildPosition {
  readonly part: "documents" | "rows" | "words";
  /** The key of the last row that was looked at; none at the beginning. */
  readonly after: readonly (string | number)[];
  /** A writer has the next document: the step waits for it, and looks at no other. */
  readonly isTaken?: true;
}

export interface RebuildStep {
  /** How many documents the step has looked at. */
  readonly documents: number;
  /** Null where nothing is left to do. */
  readonly next: RebuildPosition | null;
}

/** The score, as a field that rows can be sorted by. */
export const scoreField: FieldReference = { path: "score", type: "number", isColumn: true };
