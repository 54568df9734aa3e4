// Every document that a comment or a page refers to is there, with the section or the number that it names.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { broken, commentsOf, referencesOf, type Source } from "./references.js";

const root = new URL("../..", import.meta.url).pathname;
const read = (path: string): Source => ({ path, text: readFileSync(join(root, path), "utf8") });
const below = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
    (name) => `${folder}/${name}`,
  );
const folders = "bin client docs generator registry runtime scripts templates test".split(" ");
const sources = [
  ...readdirSync(root).filter((name) => /\.(?:md|ts|mjs)$/.test(name)),
  ...folders.flatMap(below).filter((path) => /\.(?:[cm]?[jt]s|hbs|md|sh|ya?ml)$/.test(path)),
  ".ci/run",
]
  // This test plants references that lead nowhere.
  .filter((path) => !path.startsWith("test/architecture/references"))
  .map(read);
const pages = new Map(
  sources.filter(({ path }) => path.endsWith(".md")).map(({ path, text }) => [path, text]),
);

test("every reference of the repository leads somewhere", () => {
  expect(sources.flatMap(referencesOf).length).toBeGreaterThan(300);
  expect(broken(sources, pages)).toEqual([]);
});

describe("a reference", () => {
  const given = new Map([
    [
      "docs/design/architecture.md",
      "# Architecture\n\n1. **One concept.**\n\n## Engines\n\n```\n# Ports\n```\n",
    ],
    ["docs/design/attacks.md", "| 1 | a | b | c |\n| 2 | a | b | c |\n"],
    ["docs/design/decisions.md", "## 1. Routes\n\n### Documents, and what they hold\n"],
    ["docs/design/service.md", "## Downloads\n\n1. Streaming.\n2. Ranges.\n"],
    ["docs/bounds.md", "## Faults\n"],
  ]);
  const faultsOf = (text: string, path = "runtime/a.ts"): readonly string[] =>
    broken([{ path, text }], given);

  test.each([
    '// Ports (architecture.md "Engines", service.md "Downloads" 2).',
    '// Rules (decisions.md §1, attacks 1, 2; architecture.md, idea 1; service.md "Downloads", rule 1).',
    '// Two lines (decisions.md\n// §1 "Routes").',
    "/** Bounds (docs/bounds.md). */",
    "const x = 1; // attacks 1–2",
    'const service = "service.md"; const reason = "an attack 99 years ago";',
  ])("that leads somewhere is none that is told of: %j", (text) => {
    expect(faultsOf(text)).toEqual([]);
  });

  test.each([
    ["// (registry.md)", "runtime/a.ts:1 → docs/design/registry.md"],
    ['\n// (architecture.md "Ports")', 'runtime/a.ts:2 → docs/design/architecture.md "Ports"'],
    [
      '// (service.md "Downloads",\n// "Uploads")',
      'runtime/a.ts:1 → docs/design/service.md "Uploads"',
    ],
    [
      '/**\n * (service.md\n * "Downloads" 3)\n */',
      'runtime/a.ts:1 → docs/design/service.md "Downloads" 3',
    ],
    ["// (decisions.md §2)", "runtime/a.ts:1 → docs/design/decisions.md 2"],
    ["// (architecture.md, idea 2)", "runtime/a.ts:1 → docs/design/architecture.md 2"],
    ["// (attacks 1 to 3)", "runtime/a.ts:1 → docs/design/attacks.md 3"],
    ["// Attack 4.", "runtime/a.ts:1 → docs/design/attacks.md 4"],
    ["f(); // as docs/missing.md says", "runtime/a.ts:1 → docs/missing.md"],
    ['// (docs/bounds.md "Prices")', 'runtime/a.ts:1 → docs/bounds.md "Prices"'],
  ])("that leads nowhere is told of: %j", (text, told) => {
    expect(faultsOf(text)).toEqual([told]);
  });

  test("in YAML and in a shell script is one as well", () => {
    expect(faultsOf("a: 1\n# attack 7\n", "registry/a.yaml")).toHaveLength(1);
    expect(faultsOf("set -e\nrun # (service.md §9)\n", "scripts/a.sh")).toHaveLength(1);
  });

  test("of a page is a link with a fragment that its target has", () => {
    const page = "[good](../bounds.md#faults)\n[bad](../bounds.md#prices)\n[own](#here)\n# Here\n";
    expect(faultsOf(page, "docs/design/service.md")).toEqual([
      'docs/design/service.md:2 → docs/bounds.md "prices"',
      'docs/design/service.md:3 → docs/design/service.md "here"',
    ]);
    expect(
      faultsOf("[it](decisions.md#documents-and-what-they-hold)", "docs/design/attacks.md"),
    ).toEqual([]);
  });

  test("is looked for in comments, not in code", () => {
    const text = "// one\n// two\ncode(); // three\nmore();\n/** four\n * five */\n";
    expect(commentsOf({ path: "a.ts", text }).map((block) => block.text.trim())).toEqual([
      "one two",
      "three",
      "four five */",
    ]);
  });
});
