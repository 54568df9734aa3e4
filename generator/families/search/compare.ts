// What changes of searches mean for clients, beside their operations.
import type { RegistryModel, SearchModel } from "../../model/registry.js";
import type { Comparison } from "../../compare/comparison.js";
import { compareAll, tellOf, value, type Rules } from "../../compare/rules.js";

const search: Rules<SearchModel> = {
  name: null,
  source: null,
  document: value("breaking", (name) => `searches ${name}`),
  text: value("documentation", () => "ranks otherwise"),
  // They stand in the schemas of its operations.
  facets: null,
};

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  compareAll(before.searches, after.searches, search, (name) =>
    tellOf(note, { kind: "document", name }, "http"),
  );
}
