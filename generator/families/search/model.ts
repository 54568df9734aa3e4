// Searches in the frozen registry.
import type { StemmedLanguage } from "../../../runtime/contract/search-languages.js";
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

/** Its part of the model. */
export const models: ModelParts = {
  search: { empty: {}, was: "searches", ofEach: { was: null } satisfies Partial<SearchModel> },
};

declare module "../../model/registry.js" {
  interface FamilyModels {
    readonly search: Readonly<Record<string, SearchModel>>;
  }
}
