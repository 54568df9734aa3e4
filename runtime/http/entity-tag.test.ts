// If-None-Match (RFC 9110 §13.1.2).
import { expect, test } from "vitest";
import { matchesEntityTag } from "./entity-tag.js";

test.each([
  [undefined, false],
  ["*", true],
  ['"3"', true],
  ['W/"3"', true],
  ['"1", W/"3"', true],
  ['"33"', false],
  ["3", false],
  ['"1","2"', false],
  ["", false],
])('%j against "3" is %j', (header, expected) => {
  expect(matchesEntityTag(header, '"3"')).toBe(expected);
});
