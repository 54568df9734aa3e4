// Schemas of openapi.json have objects where JSON Schema allows `true` and `false`.
import { expect, test } from "vitest";
import { publishSchema } from "./published-schema.js";

test("true and false are spelled out, except for additional properties", () => {
  expect(publishSchema(true)).toEqual({});
  expect(
    publishSchema({
      type: "object",
      properties: { any: true, none: false, list: { type: "array", items: true, default: [true] } },
      patternProperties: { "^x": true },
      additionalProperties: false,
      anyOf: [true, { not: false, const: true }],
    }),
  ).toEqual({
    type: "object",
    properties: {
      any: {},
      none: { not: {} },
      list: { type: "array", items: {}, default: [true] },
    },
    patternProperties: { "^x": {} },
    additionalProperties: false,
    anyOf: [{}, { not: { not: {} }, const: true }],
  });
});
