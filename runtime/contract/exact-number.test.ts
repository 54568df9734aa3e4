import { expect, test } from "vitest";
import { decimalSum } from "./exact-number.js";

test.each([
  [[0.1, 0.2], 0.3],
  [[0.1, 0.7, 0.2], 1],
  [[19.99, 5.01, -0.01], 24.99],
  [Array.from({ length: 10 }, () => 0.1), 1],
  [[1e308, -1e308, 5e-324], 5e-324],
  [[1e22, 1], 1e22],
  [[1e308, 1e308], Infinity],
  [[], 0],
])("%j add up to %d", (values, sum) => {
  expect(decimalSum(values)).toBe(sum);
});
