// The port of search engines: documents that match words, ranked, counted and grouped (architecture.md "Engines").
import type { DocumentQuery, StoredDocument, Window } from "../documents/port.js";
import type { FieldReference } from "../query/fields.js";
import type { Scalar } from "../query/scalar.js";
import type { Match } from "./match.js";
import type { SearchSpec } from "./spec.js";

export interface SearchQuery extends DocumentQuery {
  /** Null browses by filter alone; every score is 0 then. */
  readonly match: Match | null;
  /** Weights of the fields that are looked at, by dotted path. */
  readonly weights: Readonly<Record<string, number>>;
  /** Only the best so many are looked at, or null for all. */
  readonly maxCandidates: number | null;
}

export interface ScoredDocument extends StoredDocument {
  /** The higher the better; not comparable between engines, queries or states of the index. */
  readonly score: number;
}

export interface FacetValue {
  readonly value: Scalar;
  readonly count: number;
}

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
  /** Makes the index anew from the documents; returns how many it holds. */
  rebuild(spec: SearchSpec, onProgress: (done: number, total: number) => void): Promise<number>;
}

/** The score, as a field that rows can be sorted by. */
export const scoreField: FieldReference = { path: "score", type: "number", isColumn: true };
