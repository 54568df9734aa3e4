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
  expect(didYouMean(name, candidates)?.name).toBe(expected);
});

test.each([
  ["gaurd", ["guard", "mount"], true],
  ["String", ["string", "strings"], true],
  ["soft-delete", ["soft_delete", "deadline"], true],
  ["delet", ["delete", "create"], true],
  ["str", ["string", "uuid"], false],
  ["ope", ["open", "one"], false],
  ["tasks_v1", ["tasks_v2"], false],
  ["completely", ["completion", "mount"], false],
  ["Note", ["note", "NOTE"], false],
  ["cn", ["en", "de"], false],
  ["got", ["get", "list"], false],
  ["tasks.got", ["tasks.get", "tasks.list"], false],
  ["lgo", ["log", "list"], true],
  ["lst", ["list", "get"], true],
])("%s among %j can only be one: %j", (name, candidates, expected) => {
  expect(didYouMean(name, candidates)?.isOnly ?? false).toBe(expected);
});
