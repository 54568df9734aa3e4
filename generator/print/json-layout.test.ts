import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLayout } from "./json-layout.js";

test("what fits stands on one line, and all else has a line for each part", () => {
  const long = "x".repeat(60);
  expect(jsonLayout({ short: [1, "two", {}], long: { one: long, two: [long, long] } })).toBe(
    `{
 "short": [1, "two", {}],
 "long": {
  "one": "${long}",
  "two": [
   "${long}",
   "${long}"
  ]
 }
}
`,
  );
});

test("what lies deeper than a depth stands on one line without spaces, however long it is", () => {
  const long = "x".repeat(60);
  expect(jsonLayout({ a: { b: { one: long, two: [long, "[}"] } } }, 2)).toBe(
    `{\n "a": {\n  "b": {"one":"${long}","two":["${long}","[}"]}\n }\n}\n`,
  );
});

test("any value is read as it was printed, on lines that are as wide as code where they can be", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary", maxDepth: 5 }), (value) => {
      const text = jsonLayout(value);
      // JSON knows no negative zero.
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      const parts = text
        .split("\n")
        .filter((line) => /^ *(?:"(?:[^"\\]|\\.)*": )?[[{].+/.test(line));
      for (const line of parts) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(100);
    }),
  );
});
