// Merge patch: the cases of RFC 7396 appendix A that have objects on both sides, and null for
// nullable members.
import { expect, test } from "vitest";
import { applyPatch } from "./merge-patch.js";

type Body = Readonly<Record<string, unknown>>;

const cases: readonly (readonly [Body, Body, Body])[] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

test.each(cases)("%j patched with %j is %j", (body, patch, expected) => {
  expect(applyPatch(body, patch, () => false)).toEqual(expected);
});

test("members of maps are removed by null, whatever their names", () => {
  const isNullable = (path: string): boolean => path === "a.b";
  const body = JSON.parse('{"a.b": 1, "m": {"a.b": 1, "__proto__": {"x": 1}, "k": 1}}') as Body;
  const patch = JSON.parse('{"a.b": null, "m": {"a.b": null, "__proto__": {"x": null, "y": 2}}}');
  expect(JSON.stringify(applyPatch(body, patch as Body, isNullable))).toBe(
    '{"m":{"__proto__":{"y":2},"k":1}}',
  );
});

test("null is a value where the member is nullable, at any depth", () => {
  const isNullable = (path: string): boolean => path === "a.b";
  expect(applyPatch({ a: { b: 1, c: 1 } }, { a: { b: null, c: null } }, isNullable)).toEqual({
    a: { b: null },
  });
});
