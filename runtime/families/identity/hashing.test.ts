// How many hashes run at a time.
import { expect, test } from "vitest";
import { hashingPlaces } from "./hashing.js";

test.each([
  [undefined, 8, 2],
  ["", 8, 2],
  ["8", 8, 4],
  ["8", 2, 1],
  ["1", 8, 1],
  ["0", 8, 1],
  ["5", 1, 1],
  ["x", 3, 2],
  ["99999", 2_000, 512],
])("of %j threads and %d cores %d hash", (threads, cores, places) => {
  expect(hashingPlaces(threads, cores)).toBe(places);
});
