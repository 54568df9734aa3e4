// Search indexes: what puts documents there, and what finds them.
import type { AnyDocumentSpec, SearchIndex } from "../../../ports/document-spec.js";
import type { IndexedDocument } from "../../../ports/indexed-document.js";
import type { SearchSpec } from "../../../ports/search-spec.js";
import type { Match } from "../../../query/match.js";
import type { ParameterSink, SqlValue } from "./values.js";

/** A statement on an index; `parameters` makes its parameters from what is put into the index. */
export interface IndexStatement<What> {
  readonly text: string;
  parameters(what: What): readonly SqlValue[];
}

export interface SearchDialect {
  /**
   * What follows FROM to select documents that match words: their rows, joined with index rows `s`,
   * which have the score.
   */
  matching(
    spec: SearchSpec,
    tenant: string,
    match: Match,
    weights: Readonly<Record<string, number>>,
    parameters: ParameterSink,
  ): string;
  /**
   * A query that finds a row if words can be compared by trigrams (pg_trgm); null if the engine has
   * no trigrams.
   */
  readonly trigrams: string | null;
  /**
   * A query for words of an index (column `word`) that may be other spellings of one: they have at
   * least `letters[0]` and at most `letters[1]` letters, and either begin with the same letter or
   * are similar by trigrams.
   */
  wordsLike(
    spec: SearchSpec,
    tenant: string,
    word: string,
    letters: readonly [number, number],
    parameters: ParameterSink,
    hasTrigrams: boolean,
  ): string;
  /**
   * What follows FROM to select documents that have the word of the expression, in any field of the
   * search.
   */
  havingWord(spec: SearchSpec, tenant: string, word: string, parameters: ParameterSink): string;
  /** Statements that put a document into an index. */
  indexPut(spec: AnyDocumentSpec, search: SearchIndex): readonly IndexStatement<IndexedDocument>[];
  /**
   * Statements that put many documents into an index at once, and leave those alone that the index
   * already has as they are.
   */
  indexPutMany(
    spec: AnyDocumentSpec,
    search: SearchIndex,
  ): readonly IndexStatement<readonly IndexedDocument[]>[];
  /**
   * A statement that removes a row from an index. Its parameters are the `rowKey`, then the tenant
   * if the type has tenants.
   */
  indexRemove(spec: AnyDocumentSpec, index: string): string;
  /**
   * The condition that some row of an index has the word of the row `words`, an alias of the
   * index's table of words.
   */
  isWordUsed(spec: AnyDocumentSpec, search: SearchIndex, words: string): string;
}
