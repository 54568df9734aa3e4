// The search spec: which document is searched, by which texts, printed by the generator.
import type { StemmedLanguage } from "../contract/search-languages.js";
import type { DocumentSpec } from "./document-spec.js";

/** A search as generated code declares it; a hit is a document, with what comes along. */
export interface SearchDeclaration<Hit = unknown> {
  readonly name: string;
  /** The index of the engine. */
  readonly index: string;
  readonly document: DocumentSpec<unknown, unknown, unknown, unknown, unknown, Hit>;
  /** Weights of the fields that are searched, by dotted path; four fields at most. */
  readonly text: Readonly<Record<string, number>>;
  /** Fields whose values can be counted. */
  readonly facets: readonly string[];
  /** The language whose forms of a word count as one; absent where words are taken as they are spelt. */
  readonly language?: StemmedLanguage;
}

export type SearchSpec<Hit = unknown> = SearchDeclaration<Hit>;

/** Declares a search. */
export function searching<Hit>(declaration: SearchDeclaration<Hit>): SearchSpec<Hit> {
  return declaration;
}
