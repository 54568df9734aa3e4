// What counts as a `traceparent` (W3C Trace Context §3.2.2, §4.3).
import { expect, test } from "vitest";
import { readTraceparent } from "./traceparent.js";

const ids = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";

test.each([
  [`00-${ids}-01`, `00-${ids}-01`],
  [`00-${ids}-00`, `00-${ids}-00`],
  // A later version is read as far as it is known, and printed as this one.
  [`cc-${ids}-01`, `00-${ids}-01`],
  [`cc-${ids}-fe-what-the-future-brings`, `00-${ids}-00`],
])("%s is read as %s", (text, read) => {
  expect(readTraceparent(text)).toBe(read);
});

test.each([
  undefined,
  null,
  7,
  "",
  `ff-${ids}-01`,
  `00-${ids}-01-more`,
  `00-${ids.toUpperCase()}-01`,
  `00-${ids}-1`,
  `cc-${ids}-01.more`,
  `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
  `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`,
  `00-${ids}-01\r\nx: y`,
  `cc-${ids}-01-${"x".repeat(600)}`,
])("%s is none", (text) => {
  expect(readTraceparent(text)).toBeUndefined();
});
