// Minutes beside a hostile author, on each engine: no restart, no loss, and `/livez` answers (attack 125 to 129).
import { describe, expect, test } from "vitest";
import { engines } from "../engines.js";
import { runHostile } from "./hostile/run.js";

const minutes = Number(process.env["SOAK_MINUTES"] ?? "10");

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test(
      `${minutes} minutes beside a hostile author`,
      async () => {
        const report = await runHostile(engine, minutes);
        const { kinds, lost, phantoms, ends, ...rest } = report;
        process.stdout.write(`${JSON.stringify({...rest, lost: lost.slice(0, 20), phantoms: phantoms.slice(0, 20), ends}, null, 1)}\n`);
        for (const kind of kinds) process.stdout.write(`${JSON.stringify(kind)}\n`);
        expect(report.restarts).toBe(0);
      },
      minutes * 60_000 + 240_000,
    );
  });
}
