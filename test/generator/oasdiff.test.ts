// oasdiff's list of what breaks clients, held against ours: each rule that it calls an error is found by opwright diff in a
// registry that leads to it, or has a written reason why no registry does.
import { describe, expect, test } from "vitest";
import { otherRules, reasons } from "./oasdiff/other-rules.js";
import { ruleIds } from "./oasdiff/rule-ids.js";
import { refusedKeywords, schemaRules, widerAnswers, type Place } from "./oasdiff/schema-rules.js";
import { tellingWith } from "./told-between.js";

const { changes } = tellingWith("export const first = () => undefined;\n");

const registryOf = (declared: string): string => `registry: 1
${declared.includes("identity:") ? "" : "identity: {}\n"}policies:
  open: []
  staff: [principal]
  boss: [principal, {authorize: platform.boss}]
${declared}
`;

/** An operation with a schema in its input or output. */
function declared(side: "in" | "out", place: Place, schema: string): string {
  const value = place === "body" ? schema : `{value: ${schema}}`;
  const route = place === "parameter" ? "get: /a" : "post: /a";
  return registryOf(
    `operations: {shop.find: {${route}, ${side}: ${value}, run: registry/code.ts#first, guard: open}}`,
  );
}

const breaks = (line: string): boolean => /^(?:breaking|opens, breaks) /.test(line);

const cases = schemaRules.flatMap((rule) =>
  rule.places.map((place) => [`${rule.direction}-${place}-${rule.name}`, rule, place] as const),
);

test.each(cases)("%s", async (_id, rule, place) => {
  const side = rule.direction === "request" ? "in" : "out";
  const [before, after] = rule.change.map((schema) => declared(side, place, schema));
  expect((await changes(before ?? "", after ?? "")).filter(breaks)).not.toEqual([]);
});

test.each(Object.entries(otherRules))("%s", async (_id, [before, after]) => {
  const told = await changes(registryOf(before), registryOf(after));
  expect(told.filter(breaks)).not.toEqual([]);
});

const wider = widerAnswers.flatMap(({ name, places, change }) =>
  places.map((place) => [`response-${place}-${name}`, place, change] as const),
);

describe("no client's type says the bounds of an answer, so they may change (ci.md)", () => {
  test.each(wider)("%s", async (_id, place, change) => {
    const [before, after] = change.map((schema) => declared("out", place, schema));
    const told = await changes(before ?? "", after ?? "");
    expect(told.map((line) => line.split(" ")[0])).toEqual(["additive"]);
  });
});

describe("keywords that no registry may have, so that nothing of theirs changes", () => {
  test.each(refusedKeywords)("$keyword", async ({ schemas }) => {
    const [refused, accepted] = schemas.map((schema) => declared("in", "property", schema));
    await expect(changes(refused ?? "", refused ?? "")).rejects.toThrow(/OPW/);
    expect(await changes(accepted ?? "", accepted ?? "")).toEqual([]);
  });
});

test("every rule has a case or a reason, and only one", () => {
  const told = [
    ...cases.map(([id]) => id),
    ...Object.keys(otherRules),
    ...Object.values(reasons).flat(),
    ...wider.map(([id]) => id),
    ...refusedKeywords.flatMap(({ rules }) =>
      rules.flatMap(([direction, name]) =>
        ["body", "property"].map((place) => `${direction}-${place}-${name}`),
      ),
    ),
  ];
  expect(told.toSorted()).toEqual(ruleIds.toSorted());
});
