// A few seconds of `npm run soak -- hostile`: a service whose author makes every mistake neither ends nor loses anything
// (attacks 125 to 129).
import { describe, test } from "vitest";
import { engines } from "../support/engines.js";
import { runHostile } from "../soak/hostile/run.js";
import { expectNothingLost } from "../soak/hostile/verdict.js";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test("beside a hostile author nothing restarts, and nothing is lost", async () => {
      expectNothingLost(await runHostile(engine, 1 / 6));
    }, 180_000);
  });
}
