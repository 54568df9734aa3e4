import { expect, test } from "vitest";
import { editDistance } from "./edit-distance.js";

test.each([
  ["berlin", "berlin", 0],
  ["berln", "berlin", 1],
  ["berlinn", "berlin", 1],
  ["verlin", "berlin", 1],
  ["brelin", "berlin", 1],
  ["brlein", "berlin", 2],
  ["", "ab", 2],
  ["a𝒳b", "a𝒴b", 1],
])("%s and %s are %d apart", (left, right, distance) => {
  expect(editDistance(left, right, 3)).toBe(distance);
  expect(editDistance(right, left, 3)).toBe(distance);
});

test("beyond the limit nothing is measured", () => {
  expect(editDistance("berlin", "madrid", 2)).toBe(3);
  expect(editDistance("ab", "abcdef", 1)).toBe(2);
});
