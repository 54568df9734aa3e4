// Edits of a text: all of those that are apart, whatever their order.
import { expect, test } from "vitest";
import type { TextEdit } from "../diagnostics/diagnostics.js";
import { apart, applyEdits } from "./edits.js";

const edit = (start: number, end: number, text: string, file = "a.yaml"): TextEdit => ({
  file,
  range: {
    start: { line: 1, col: start + 1, offset: start },
    end: { line: 1, col: end + 1, offset: end },
  },
  text,
});

test("edits are made in one pass, each at its own place", () => {
  const edits = [edit(0, 3, "one"), edit(8, 8, "!"), edit(4, 7, "")];
  expect(applyEdits("eno two .", edits)).toBe("one  !.");
});

test.each([
  ["overlap", edit(2, 6, "x")],
  ["meet", edit(5, 6, "x")],
  ["insert at the same place", edit(5, 5, "x")],
])("of fixes that %s, the first counts", (_, other) => {
  const first = [edit(1, 5, "a")];
  expect(apart([first, [other]])).toEqual([first]);
});

test("fixes of two files, and of places that are apart, are kept; a fix is kept whole or not at all", () => {
  const first = [edit(1, 5, "a")];
  const beside = [edit(1, 5, "a", "b.yaml"), edit(7, 8, "c")];
  const half = [edit(20, 21, "d"), edit(3, 4, "e")];
  expect(apart([first, beside, half])).toEqual([first, beside]);
});
