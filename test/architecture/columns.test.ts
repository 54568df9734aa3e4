// Comments keep to 100 columns, so that they can be read beside a diff (docs/design/style.md).
import { expect, test } from "vitest";
import type { SourceFile } from "./house.js";
import { sources } from "./sources.js";

const most = 100;

/** Files that would be longer than files may be. The list only shrinks. */
const left = ["generator/model/registry.ts", "runtime/operations/context.ts"];

/** Paths of files with a comment that is too wide. */
function wide(files: readonly SourceFile[]): readonly string[] {
  const isWide = (line: string): boolean =>
    /^\s*(?:\/\/|\/?\*)/.test(line) && !line.includes("oxlint-") && line.length > most;
  return files.flatMap(({ path, text }) => (text.split("\n").some(isWide) ? [path] : []));
}

test("comments keep to 100 columns", () => {
  const files = ["generator", "runtime", "client"].flatMap(sources);
  expect(files.length).toBeGreaterThan(900);
  expect(wide(files).toSorted()).toEqual(left);
});

test("a wider one is caught", () => {
  const path = "runtime/http/reply.ts";
  expect(wide([{ path, text: `// ${"word ".repeat(30)}` }])).toEqual([path]);
  expect(wide([{ path, text: `const text = "${"word ".repeat(30)}";` }])).toEqual([]);
});
