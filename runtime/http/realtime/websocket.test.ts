// Reasons of close frames have 123 bytes, and no half characters (RFC 6455 §5.5, attack 66).
import { expect, test } from "vitest";
import { cut } from "./websocket.js";

test.each([
  ["short", "short"],
  ["x".repeat(200), "x".repeat(123)],
  ["é".repeat(100), "é".repeat(61)],
  ["x" + "€".repeat(50), "x" + "€".repeat(40)],
  ["𝄞".repeat(40), "𝄞".repeat(30)],
])("%.10s… is cut between characters", (text, expected) => {
  expect(cut(text, 123)).toBe(expected);
  expect(Buffer.byteLength(cut(text, 123))).toBeLessThanOrEqual(123);
});
