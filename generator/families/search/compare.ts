// What changes of searches mean for clients, beside their operations.
import type { SearchModel } from "./model.js";
import type { RegistryModel } from "../../model/registry.js";
import type { Comparison } from "../../compare/comparison.js";
import { compareAll, tellOf, value, type Rule, type Rules } from "../../compare/rules.js";

/** Registries that earlier versions have frozen say nothing of a language. */
function formsOfWords(
  before: SearchModel["language"] | undefined,
  after: SearchModel["language"],
): ReturnType<NonNullable<Rule<SearchModel["language"]>>> {
  if ((before ?? null) === after) return [];
  const what =
    after === null ? "finds words as they are spelt" : `finds all forms of a word (${after})`;
  return [["documentation", what]];
}

const search: Rules<SearchModel> = {
  name: null,
  was: null,
  source: null,
  document: value("breaking", (name) => `searches ${name}`),
  text: value("documentation", () => "ranks otherwise"),
  language: formsOfWords,
  // They stand in the schemas of its operations.
  facets: null,
};

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  compareAll(before.search, after.search, search, (name) =>
    tellOf(note, { kind: "document", name, declared: ["search", name] }, "http"),
  );
}
