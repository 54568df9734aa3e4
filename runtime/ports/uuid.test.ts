// UUIDv7 (RFC 9562 §5.7): shape, order, no repetition.
import { expect, test } from "vitest";
import { uuidv7 } from "./uuid.js";

test("ids have version 7, variant 10, ascend, and carry the time", () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, uuidv7);
  expect(
    ids.every((id) =>
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id),
    ),
  ).toBe(true);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  const millis = Number.parseInt((ids[0] ?? "").replaceAll("-", "").slice(0, 12), 16);
  expect(Math.abs(millis - before)).toBeLessThan(1_000);
});
