// What the text of a UUID looks like (RFC 9562 §4).
import { expect, test } from "vitest";
import { isUuid } from "./uuid.js";

test.each([
  "",
  "x",
  "01890000-0000-7000-8000-00000000000",
  "01890000-0000-7000-8000-0000000000000",
  "urn:uuid:01890000-0000-7000-8000-000000000000",
])("%j is no UUID", (text) => expect(isUuid(text)).toBe(false));
