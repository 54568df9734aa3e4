// What the quick reader of YAML reads, the whole parser reads as the same value, without fault or warning.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isMap } from "yaml";
import { inexactNumbers } from "../../generator/load/inexact-numbers.js";
import { readPlainYaml } from "../../generator/load/plain-yaml.js";
import { repeatedKeys } from "../../generator/load/repeated-keys.js";
import { documentWithPositions } from "../../generator/load/source-tree.js";
import { readScenarios } from "../generator/scenario.js";

const registry = fileURLToPath(new URL("../../registry", import.meta.url));
const scenarios = fileURLToPath(new URL("../generator/scenarios", import.meta.url));

const reference = readdirSync(registry)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => readFileSync(`${registry}/${name}`, "utf8"));

/** Registry files of all scenarios, right ones and wrong ones. */
const scenarioFiles = readScenarios(scenarios)
  .flatMap(({ files }) => Object.entries(files))
  .filter(([path]) => path.endsWith(".yaml"))
  .map(([, text]) => text);

/** Every notation that the quick reader has. */
const notations = `a: {b: [1, -2.5, 0.5, "x\\n", 'it''s', {c: null}], "d e": true, f: g h}
# a comment
list:
- one
-   k: v # another
    "l": 'm'

- [x,
   y, # in between
   z]
-
  n: o
-
deep:
    deeper: ^[a-z]+$
    path: /a/{b}#c
    empty:
    number: 1e3x
    colour: #fff
    colon: a:b
    flow: {a: b,
      c: d,
      }
Ünï: ça va
text: |
  one: # two

    three
bare: |-
 - four

last: -x
`;

const pieces = [
  [..."abn01-+.~!&*|>%@`'\"#:,?[]{}()<=\\ \t\r\u00a0\ufeff\u2028é\u0000"],
  [
    "\n",
    "\n\n",
    "\n ",
    "\n  ",
    "\n- ",
    "\n# c\n",
    "\n---\n",
    "\n...\n",
    "\r\n",
    "|\n",
    " |-\n   ",
    ">-\n ",
  ],
  ["  ", ": ", " :", " #", "# ", ", ", "- ", "? ", "<<: ", "&a ", "*a", "!!str ", "[ ]", "{a: }"],
  ["null", "True", "~", "yes", "0o17", "0x1F", "1e3", ".5", "5.", "-.inf", ".NaN", "+1", "1_000"],
  [
    "12345678901234567890",
    "9007199254740993",
    "0x20000000000001",
    "0.1234567890123456789",
    "2026-11-23",
    "12:30",
    "-0",
    "00",
    "1.",
  ],
  ['"\\x41"', '"\\u00e9"', '"a\\\n b"', "'a\n b'", '""', "''", "[]", "{}", "[a: b]", '{"a":1}'],
  ["__proto__: 1", "constructor", "toString: x", "a: b: c", "a:", "string[]", "{a}"],
].flat();

interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly piece: string;
}

const edits: fc.Arbitrary<readonly Edit[]> = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3 }), fc.integer({ max: 40 })),
    piece: fc.oneof(fc.constant(""), fc.constantFrom(...pieces), fc.string({ maxLength: 3 })),
  }),
  { maxLength: 4 },
);

/** Some lines of a text that somebody has gone over with a heavy hand. */
const texts = fc
  .tuple(
    fc.oneof(fc.constant(notations), fc.constantFrom(...reference, ...scenarioFiles)),
    fc.nat(),
    fc.integer({ min: 1, max: 30 }),
    edits,
  )
  .map(([text, from, count, changes]) => {
    const lines = text.split("\n");
    const start = from % lines.length;
    const indent = /^ */.exec(lines[start] ?? "")?.[0] ?? "";
    const chosen = lines
      .slice(start, start + count)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
      .join("\n");
    return changes.reduce((before, { at, removed, piece }) => {
      const place = Math.floor(at * (before.length + 1));
      return before.slice(0, place) + piece + before.slice(place + removed);
    }, chosen);
  });

/** What the whole parser says: a map, or nothing where it is anything else or at fault. */
function wholly(text: string): unknown {
  const document = documentWithPositions(text);
  const faults = [
    ...document.errors,
    ...document.warnings,
    ...repeatedKeys(document),
    ...inexactNumbers(document),
  ];
  return faults.length === 0 && isMap(document.contents) ? document.toJS() : undefined;
}

const numRuns = Number(process.env["OPWRIGHT_TEST_TEXTS"] ?? 2_000);

test(
  "what the quick reader reads is what the text says",
  () => {
    let read = 0;
    const property = fc.property(texts, (text) => {
      const quick = readPlainYaml(text);
      if (quick === undefined) return;
      read += 1;
      const whole = wholly(text);
      expect(quick).toStrictEqual(whole);
      // Keys come in the same order.
      expect(JSON.stringify(quick)).toBe(JSON.stringify(whole));
    });
    fc.assert(property, { numRuns });
    expect(read).toBeGreaterThan(numRuns / 10);
  },
  numRuns * 12,
);

test("registries as people write them are read quickly", () => {
  for (const text of [notations, ...reference])
    expect(readPlainYaml(text)).toStrictEqual(wholly(text));
});
