// `npm run test:long` leaves out no test that lets its environment say how much it tries.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const repository = new URL("../..", import.meta.url).pathname;
const textOf = (path: string): string => readFileSync(join(repository, path), "utf8");
const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found = ""]) => found);

const script = textOf("scripts/test-long.mjs");
const settings = all(script, /^ {2}(OPWRIGHT_[A-Z_]+):/gm);
const paths = all(script, /"vitest", "run", "([^"]+)"/g);

/** Numbers that each test reads from its environment, by its path. */
const numbers = new Map(
  readdirSync(join(repository, "test"), { encoding: "utf8", recursive: true })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => `test/${path}`)
    .map((path) => [path, all(textOf(path), /Number\(process\.env\["(OPWRIGHT_[A-Z_]+)"\]/g)]),
);

test("every test that takes a number from its environment is run, and gets the number", () => {
  const sized = [...numbers].filter(([, names]) => names.length > 0);
  expect(sized.length).toBeGreaterThan(10);
  expect(sized.filter(([file]) => !paths.some((path) => file.startsWith(path)))).toEqual([]);
  expect(sized.filter(([, names]) => names.some((name) => !settings.includes(name)))).toEqual([]);
});

test("every setting is read by a test, and every path leads to one", () => {
  const read = new Set([...numbers.values()].flat());
  expect(settings.filter((name) => !read.has(name))).toEqual([]);
  const files = [...numbers.keys()];
  expect(paths.filter((path) => !files.some((file) => file.startsWith(path)))).toEqual([]);
});
