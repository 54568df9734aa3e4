// What changes of searches mean for clients, beside their operations.
import { differences } from "../../compare/differences.js";
import type { JointSearchModel, SearchModel } from "./model.js";
import type { RegistryModel } from "../../model/registry.js";
import type { Comparison } from "../../compare/comparison.js";
import {
  compareAll,
  tellOf,
  value,
  type Rule,
  type Rules,
  type Told,
} from "../../compare/rules.js";

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

const joint: Rules<JointSearchModel> = {
  name: null,
  source: null,
  over: overChanged,
};

function overChanged(
  before: JointSearchModel["over"],
  after: JointSearchModel["over"],
): readonly Told[] {
  const namesOf = (over: JointSearchModel["over"]): readonly string[] =>
    over.map(({ document }) => document);
  const { added, gone } = differences(namesOf(before), namesOf(after));
  const searchOf = (over: JointSearchModel["over"], name: string): string | undefined =>
    over.find(({ document }) => document === name)?.search;
  const kept = namesOf(after).filter((name) => !added.includes(name));
  const others = kept.filter((name) => searchOf(before, name) !== searchOf(after, name));
  const isInOrder =
    namesOf(before)
      .filter((name) => kept.includes(name))
      .join() === kept.join();
  return [
    ...others.map((name): Told => [
      "documentation",
      `finds and ranks ${name} as ${searchOf(after, name) ?? ""} does`,
    ]),
    ...(isInOrder ? [] : [["documentation", "ranks equally good hits in another order"] as const]),
    ...gone.map((name): Told => ["breaking", `no longer searches ${name}`]),
    ...added.map((name): Told => ["additive", `searches ${name} as well`]),
  ];
}

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  compareAll(before.search, after.search, search, (name) =>
    tellOf(note, { kind: "document", name, declared: ["search", name] }, "http"),
  );
  compareAll(before.jointSearches, after.jointSearches, joint, (name) =>
    tellOf(note, { kind: "document", name, declared: ["search", name] }, "http"),
  );
}
