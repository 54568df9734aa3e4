// The page of metrics and what `/metrics` really prints are the same, and named as Prometheus asks (docs/metrics.md).
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";
import { isOfBackup, printedMetrics, toldMetrics } from "../../support/told-metrics.js";

const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const { version: opwrightVersion } = JSON.parse(read("package.json")) as { version: string };

const told = toldMetrics.filter((metric) => !isOfBackup(metric));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    beforeAll(async () => {
      service = await startTestService(engine, { environment: { DATABASE_POOL: "7" } });
      await service.call("GET", "/tasks/01890000-0000-7000-8000-000000000001");
    });
    afterAll(() => service.stop());

    const metrics = async (): Promise<string> => (await service.call("GET", "/metrics")).body;
    const printed = async (): Promise<readonly (readonly [string, string])[]> =>
      [...(await metrics()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(
        ([, name = "", type = ""]) => [name, type] as const,
      );

    test("the page lists each metric with its type, and no other", async () => {
      expect(printedMetrics(await metrics())).toEqual(told);
      expect(told.length).toBeGreaterThan(40);
    });

    test("names of counters end in _total, and no others", async () => {
      const wrong = (await printed()).filter(
        ([name, type]) =>
          // The library's own of Node.js have kept their names.
          !name.startsWith("nodejs_") && name.endsWith("_total") !== (type === "counter"),
      );
      expect(wrong).toEqual([]);
    });

    test("each metric has a help that says more than its name", async () => {
      const text = await metrics();
      for (const [name] of await printed()) {
        const help = new RegExp(`^# HELP ${name} (.+)$`, "m").exec(text)?.[1] ?? "";
        expect([name, help.length > 10 && !name.endsWith(help.replaceAll(" ", "_"))]).toEqual([
          name,
          true,
        ]);
      }
    });

    test("each sample belongs to the metric above it, and the text ends where it should", async () => {
      const text = await metrics();
      expect(text.endsWith("\n")).toBe(true);
      let name = "";
      for (const line of text.split("\n")) {
        name = /^# TYPE (\w+)/.exec(line)?.[1] ?? name;
        if (line === "" || line.startsWith("#")) continue;
        const sample = /^(\w+)(?:\{.*\})? \S+$/.exec(line)?.[1] ?? "";
        expect(sample.replace(/_(?:bucket|sum|count)$/, "")).toBe(
          name.replace(/_(?:bucket|sum|count)$/, ""),
        );
      }
    });

    test("the version that runs is named, and how much the database takes at a time", async () => {
      const text = await metrics();
      expect(text).toContain(
        `opwright_build_info{service="tracker",version="1.0.0",opwright="${opwrightVersion}"} 1`,
      );
      const limit = (name: string): number =>
        Number(new RegExp(`^opwright_${name}_limit (\\d+)$`, "m").exec(text)?.[1]);
      expect(limit("reads")).toBeGreaterThan(0);
      if (engine.name === "postgres") expect(limit("reads") + limit("writes")).toBe(7);
      else expect(limit("writes")).toBeGreaterThan(0);
    });
  });
}
