// Choices of pairs of versions, the same for the same seed.
import fc from "fast-check";
import { drawn, type Draw } from "../registries/draw.js";

/** What some choices make of a seed. */
export function made<T>(seed: number, make: (draw: Draw) => T): T {
  const [value] = fc.sample(
    drawn((draw) => ({ of: make(draw) })),
    { seed: seed % 2 ** 31, numRuns: 1 },
  );
  if (value === undefined) throw new Error("nothing was drawn");
  return value.of;
}
