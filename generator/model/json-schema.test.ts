import { expect, test } from "vitest";
import { isNullable, withoutNull } from "./json-schema.js";

const text = { type: "string", maxLength: 3 };

test.each([
  [{ ...text, type: ["string", "null"] }],
  [{ anyOf: [text, { type: "null" }] }],
  [{ oneOf: [{ type: "null" }, text] }],
])("%j allows null, and is a text without it", (schema) => {
  expect(isNullable(schema)).toBe(true);
  expect(withoutNull(schema)).toEqual(text);
});
