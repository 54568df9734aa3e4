// Suggestions: near enough to be meant, or nothing.
import { expect, test } from "vitest";
import { didYouMean } from "./did-you-mean.js";

test.each([
  ["gaurd", ["guard", "mount"], "guard"],
  ["str", ["string", "uuid"], "string"],
  ["delet", ["delete", "create"], "delete"],
  ["opne", ["open", "one"], "open"],
  ["completely", ["open", "mount"], undefined],
  ["x", ["y"], "y"],
  ["same", ["same"], undefined],
])("%s among %j is %j", (name, candidates, expected) => {
  expect(didYouMean(name, candidates)).toBe(expected);
});
