// Searches in the frozen registry.
import type { StemmedLanguage } from "../../../runtime/contract/search-languages.js";
import type { Code } from "../../model/code.js";
import type { ModelParts } from "../../model/model-parts.js";

/** A search over a document. */
export interface SearchModel {
  readonly name: string;
  /** What it was called when its index was made, or null. */
  readonly was: string | null;
  readonly source: string;
  /** The document that is searched. */
  readonly document: string;
  /** Weights by field. */
  readonly text: Readonly<Record<string, number>>;
  /** The language by which words are stemmed; null if words match as they are spelled. */
  readonly language: StemmedLanguage | null;
  readonly facets: readonly string[];
}

/** A search over other searches. */
export interface JointSearchModel {
  readonly name: string;
  readonly source: string;
  /** In the order in which equally good hits stand. */
  readonly over: readonly {
    readonly search: string;
    /** The document that it searches. */
    readonly document: string;
    /** What guards that search and its documents. */
    readonly reading: readonly Code[];
  }[];
}

/** Its parts of the model. */
export const models: ModelParts = {
  jointSearches: { empty: {} },
  search: { empty: {}, was: "searches", ofEach: { was: null } satisfies Partial<SearchModel> },
};

declare module "../../model/registry.js" {
  interface FamilyModels {
    readonly search: Readonly<Record<string, SearchModel>>;
    readonly jointSearches: Readonly<Record<string, JointSearchModel>>;
  }
}
