// Minutes beside a hostile author, on each engine: no restart, no loss, `/livez` within 250 ms at p99, and flat memory
// (attacks 125 to 129).
import { describe, expect, test } from "vitest";
import { engines } from "../support/engines.js";
import { runHostile } from "./hostile/run.js";
import { expectNothingLost, tableOf } from "./hostile/verdict.js";

const minutes = Number(process.env["SOAK_MINUTES"] ?? "10");
const livezMillis = 250;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test(
      `${minutes} minutes beside a hostile author`,
      async () => {
        const report = await runHostile(engine, minutes);
        process.stdout.write(`\n${tableOf(engine.name, report)}\n`);
        expectNothingLost(report);
        const { waited = 0 } = report.samples.at(-1) ?? {};
        const without = `the service was without a core for ${waited.toFixed(0)} s of ${minutes * 60}`;
        expect(report.livez.p99, without).toBeLessThan(livezMillis);
        // As in the other soak: from the second third on it is flat.
        const third = (of: number): number => {
          const { length } = report.samples;
          const some = report.samples.slice((of * length) / 3, ((of + 1) * length) / 3);
          const sorted = some.map(({ mebibytes }) => mebibytes).sort((one, other) => one - other);
          return sorted[Math.floor(sorted.length / 2)] ?? 0;
        };
        expect(third(2)).toBeLessThan(third(1) * 1.15 + 10);
      },
      minutes * 60_000 + 300_000,
    );
  });
}
