// The search spec: which document is searched, by which texts, printed by the generator.
import type { StemmedLanguage } from "../contract/search-languages.js";
import type { DocumentSpec } from "./document-spec.js";

/** A search as generated code declares it. */
export interface SearchDeclaration<Document = unknown> {
  readonly name: string;
  /** The index of the engine. */
  readonly index: string;
  readonly document: DocumentSpec<Document>;
  /** Weights of the fields that are searched, by dotted path; four fields at most. */
  readonly text: Readonly<Record<string, number>>;
  /** Fields whose values can be counted. */
  readonly facets: readonly string[];
  /** The language whose forms of a word count as one; absent where words are taken as they are spelt. */
  readonly language?: StemmedLanguage;
}

export type SearchSpec<Document = unknown> = SearchDeclaration<Document>;

/** Declares a search. */
export function searching<Document>(
  declaration: SearchDeclaration<Document>,
): SearchSpec<Document> {
  return declaration;
}
