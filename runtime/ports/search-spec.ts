// The search spec: which documents are searched, and in which texts, printed by the generator.
import type { StemmedLanguage } from "../contract/search-languages.js";
import type { DocumentSpec, Reading } from "./document-spec.js";

/**
 * A search as generated code declares it. `Hit` is the type of a found document, with what is
 * expanded in it.
 */
export interface SearchDeclaration<Hit = unknown> {
  readonly name: string;
  /** The name of its index in the engine. */
  readonly index: string;
  readonly document: DocumentSpec<{ document: unknown; expanded: Hit }>;
  /** Weights of the fields that are searched, by dotted path; four fields at most. */
  readonly text: Readonly<Record<string, number>>;
  /** Fields whose values can be counted. */
  readonly facets: readonly string[];
  /**
   * The language in which all forms of a word count as one; absent if only the exact spelling
   * matches.
   */
  readonly language?: StemmedLanguage;
}

export type SearchSpec<Hit = unknown> = SearchDeclaration<Hit>;

/** A search over others, as generated code declares it. */
export interface JointSearchSpec {
  readonly name: string;
  /** In the order in which equally good hits stand. */
  readonly over: readonly JointPart[];
}

/** One of the searches that are asked together, each of other documents. */
export interface JointPart {
  readonly search: SearchSpec;
  /** What guards it and its documents. */
  readonly reading: () => readonly Reading[];
}

/** Declares a search over others. */
export function joinSearches(declaration: JointSearchSpec): JointSearchSpec {
  return declaration;
}

/** Declares a search. */
export function defineSearch<Hit>(declaration: SearchDeclaration<Hit>): SearchSpec<Hit> {
  return declaration;
}
