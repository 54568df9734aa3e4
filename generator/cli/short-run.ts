// What V8 is told of a process that generates once and ends.
import { setFlagsFromString } from "node:v8";

/**
 * Has functions optimized later than in a process that stays. Nearly all that a run calls is over before the optimized
 * code would have paid for making it: measured with 1 000 operations, this saves a quarter of the processor's time.
 */
export function expectShortRun(): void {
  setFlagsFromString("--interrupt-budget=500000");
}
