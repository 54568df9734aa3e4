// The coding that an Accept-Encoding takes best.
import { expect, test } from "vitest";
import { acceptedCoding } from "./content-coding.js";

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["gzip", "gzip"],
  ["gzip, deflate, br", "br"],
  ["br;q=0.5, gzip;q=0.9", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["gzip;q=0", "identity"],
  ["*", "br"],
  ["*;q=0", "identity"],
  ["identity", "identity"],
  ["GZIP ; Q=0.3", "gzip"],
  ["br;q=x", "identity"],
])("%j takes %s", (header, coding) => expect(acceptedCoding(header)).toBe(coding));
