// The strict reader against JSON.parse: everything that I-JSON allows is read alike.
import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError } from "../../contract/errors.js";
import { parseStrictJson } from "./strict-json.js";

const isWellFormed = (text: string): boolean =>
  !/\0/.test(text) &&
  !/[\ud800-\udfff]/.test(text.replaceAll(/[\ud800-\udbff][\udc00-\udfff]/g, ""));
const text = fc.string({ unit: "binary" }).filter(isWellFormed);
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
    fc.array(tie("any"), { maxLength: 5 }),
    fc.dictionary(text, tie("any"), { maxKeys: 5 }),
  ),
})).any;

test("reads what JSON.stringify prints, spaced or not", () => {
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1, "\t"), (given, space) => {
      const printed = JSON.stringify(given, null, space);
      expect(parseStrictJson(Buffer.from(printed))).toEqual(JSON.parse(printed));
    }),
    { numRuns: 2_000 },
  );
});

test("any bytes give a value or an error of the table, and nothing else", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        parseStrictJson(Buffer.from(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
      }
    }),
    { numRuns: 5_000 },
  );
});
