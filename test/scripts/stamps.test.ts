// What `npm start` does once: outputs that were made from the same inputs, packages that are installed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { missingPackages } from "../../scripts/installed.mjs";
import { makeOnce } from "../../scripts/stamps.mjs";

let root: string;
let made: number;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "opwright-stamps-"));
  made = 0;
  write("source/one.ts", "1");
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** How often the step has been done after another call. */
function make(isFull = true): number {
  const step = {
    step: "compile",
    inputs: ["source", "config.json"],
    outputs: ["dist/out"],
    isFull,
  };
  makeOnce(root, step, () => {
    made += 1;
    write("dist/out/one.js", String(made));
  });
  return made;
}

test.each([
  ["nothing has changed", () => undefined, 1],
  ["a source has the same content again", () => write("source/one.ts", "1"), 1],
  ["a source has changed", () => write("source/one.ts", "2"), 2],
  ["a source was added", () => write("source/two.ts", ""), 2],
  [
    "a source was renamed",
    () => (rmSync(join(root, "source/one.ts")), write("source/a.ts", "1")),
    2,
  ],
  ["a file appeared that was missing", () => write("config.json", "{}"), 2],
  ["an output is gone", () => rmSync(join(root, "dist/out/one.js")), 2],
  ["somebody else wrote an output", () => write("dist/out/one.js", "// by hand"), 2],
])("where %s", (_case, change, expected) => {
  expect(make()).toBe(1);
  change();
  expect(make()).toBe(expected);
});

test("a full build serves where a part is wanted, not the other way round", () => {
  expect([make(true), make(false)]).toEqual([1, 1]);
  write("source/one.ts", "2");
  expect([make(false), make(false), make(true)]).toEqual([2, 2, 3]);
});

test("a step that failed is done again", () => {
  const step = { step: "compile", inputs: ["source"], outputs: [] };
  expect(() =>
    makeOnce(root, step, () => {
      throw new Error("it does not compile");
    }),
  ).toThrow("it does not compile");
  makeOnce(root, step, () => (made += 1));
  expect(made).toBe(1);
});

test("a package is missing where it is needed, for this system, and not there in that version", () => {
  const packages = {
    "": { name: "service" },
    "scripts/start": { name: "a workspace" },
    "node_modules/there": { version: "1.0.0" },
    "node_modules/older": { version: "2.0.0" },
    "node_modules/absent": { version: "1.0.0" },
    "node_modules/of-development": { version: "1.0.0", dev: true },
    "node_modules/of-another-system": { version: "1.0.0", optional: true },
    "node_modules/workspace": { link: true },
  };
  write("package-lock.json", JSON.stringify({ packages }));
  const needed = ({ dev }: { readonly dev?: boolean }): boolean => dev !== true;
  expect(missingPackages(root, needed)).toHaveLength(3);
  const installed = {
    "node_modules/there": { version: "1.0.0" },
    "node_modules/older": { version: "1.9.0" },
  };
  write("node_modules/.package-lock.json", JSON.stringify({ packages: installed }));
  expect(missingPackages(root, needed)).toEqual(["node_modules/older", "node_modules/absent"]);
  expect(missingPackages(root, () => true)).toHaveLength(3);
});
