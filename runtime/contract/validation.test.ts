import { expect, test } from "vitest";
import { isMultipleOf } from "./validation.js";

test.each([
  [0.07, 0.01],
  [4.35, 0.01],
  [70.07, 0.01],
  [-0.3, 0.1],
  [1e-7, 1e-8],
  [1e308, 0.5],
  [0, 0.1],
  [9, 3],
  [9_007_199_254_740_992, 2],
])("%d is a multiple of %d", (value, divisor) => expect(isMultipleOf(value, divisor)).toBe(true));

test.each([
  [0.075, 0.01],
  [0.1 + 0.2, 0.1],
  [7, 2],
  [1e308, 0.123456789],
  [5e-324, 1],
])("%d is no multiple of %d", (value, divisor) => expect(isMultipleOf(value, divisor)).toBe(false));
