import fc from "fast-check";
import { expect, test } from "vitest";
import { toolName } from "./mcp-tools.js";

const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,70}$/);
const keys = fc.tuple(word, word).map((words) => words.join("."));
const allowed = /^[a-zA-Z0-9_-]{1,64}$/;

test("every key has a name that clients take, and no two have one", () => {
  fc.assert(
    fc.property(fc.uniqueArray(keys, { minLength: 2, maxLength: 50 }), (chosen) => {
      const names = chosen.map(toolName);
      for (const name of names) expect(name).toMatch(allowed);
      expect(new Set(names).size).toBe(chosen.length);
    }),
  );
});

test("keys that differ in where the point stands, or far behind, have different names", () => {
  const long = "x".repeat(100);
  const near = ["a_b.c", "a.b_c", `${long}.a`, `${long}.b`, `${long}a.b`, "a.list"];
  expect(new Set(near.map(toolName)).size).toBe(near.length);
  expect(toolName("tasks.raw_list")).toBe("tasks-raw_list");
});
