// What `slo` prints for Prometheus and Grafana, judged by a real Prometheus: the rules are sound, they fire on what they should
// and on nothing else, and each query of the dashboard has a result.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { startProxy } from "../../faults/proxy.js";
import { engines } from "../../support/engines.js";
import { freePort } from "../../support/free-port.js";
import { startProcess } from "../../support/process.js";

const generated = new URL("../../../generated/monitoring/", import.meta.url).pathname;
const rules = readFileSync(join(generated, "rules.yaml"), "utf8");
const dashboard = JSON.parse(readFileSync(join(generated, "dashboard.json"), "utf8"));
const isMissing = (process.env["OPWRIGHT_TEST_WITHOUT"] ?? "").split(",").includes("prometheus");

const folder = mkdtempSync(join(tmpdir(), "opwright-prometheus-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function promtool(args: readonly string[], input?: string) {
  const { status, stdout, stderr } = spawnSync("promtool", args, {
    cwd: folder,
    encoding: "utf8",
    ...(input === undefined ? {} : { input }),
  });
  return { status, said: stdout + stderr };
}

interface Asked {
  readonly at: string;
  readonly alert: string;
  /** Labels that it has besides those of its rule; false if it doesn't fire. */
  readonly fires: boolean | Readonly<Record<string, string>>;
}

/** Whether alerts fire at times, given what counters had so often. */
function firing(
  series: Readonly<Record<string, string>>,
  asked: readonly Asked[],
  interval = "15s",
) {
  writeFileSync(join(folder, "rules.yaml"), rules);
  const test = {
    rule_files: ["rules.yaml"],
    evaluation_interval: interval,
    tests: [
      {
        interval,
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: asked.map(({ at, alert, fires }) => ({
          eval_time: at,
          alertname: alert,
          exp_alerts: fires === false ? [] : [annotated(alert, fires === true ? {} : fires)],
        })),
      },
    ],
  };
  writeFileSync(join(folder, "test.yaml"), JSON.stringify(test));
  return promtool(["test", "rules", "test.yaml"]);
}

/** An alert as `promtool` expects it: with the labels and annotations of its rule. */
function annotated(alert: string, more: Readonly<Record<string, string>>) {
  const all = parse(rules).groups.flatMap((group: { rules: unknown[] }) => group.rules);
  const { labels, annotations } = all.find((rule: { alert?: string }) => rule.alert === alert);
  const exp_annotations = Object.fromEntries(
    Object.entries(annotations as Record<string, string>).map(([name, text]) => [
      name,
      text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_all, label: string) => more[label] ?? ""),
    ]),
  );
  return { exp_labels: { ...labels, ...more }, exp_annotations };
}

const failed = 'opwright_slo_failed_total{job="tracker"}';
const requests = 'opwright_slo_requests_total{job="tracker"}';
const slow = 'opwright_slo_slow_total{job="tracker"}';
const timed = 'opwright_slo_timed_total{job="tracker"}';

describe.skipIf(isMissing)("with Prometheus", () => {
  test("the rules are sound", () => {
    writeFileSync(join(folder, "rules.yaml"), rules);
    const { status, said } = promtool(["check", "rules", "--lint-fatal", "rules.yaml"]);
    expect([status, said]).toEqual([0, expect.stringMatching(/SUCCESS: \d+ rules found/)]);
  });

  test("when everything fails, somebody is called within two minutes, and not again once it is over", () => {
    // An hour without a fault, ten minutes in which all 10 requests a second fail, and an hour without.
    const values = "0x240 150+150x39 6000x280";
    const outcome = firing(
      { [requests]: "0+150x560", [failed]: values, [timed]: "0+150x560", [slow]: "0x560" },
      [
        { at: "60m", alert: "AvailabilityBurnsFast", fires: false },
        { at: "62m", alert: "AvailabilityBurnsFast", fires: true },
        { at: "72m", alert: "AvailabilityBurnsFast", fires: true },
        { at: "120m", alert: "AvailabilityBurnsFast", fires: false },
        { at: "72m", alert: "LatencyBurnsFast", fires: false },
      ],
    );
    expect(outcome).toEqual({ status: 0, said: expect.stringContaining("SUCCESS") });
  });

  test("a few failures in the night call nobody, though they are many of few", () => {
    const outcome = firing({ [requests]: "0x240 1+1x100", [failed]: "0x240 1 2 3 4 5 6 7 8x100" }, [
      { at: "63m", alert: "AvailabilityBurnsFast", fires: false },
      { at: "75m", alert: "AvailabilityBurnsFast", fires: false },
    ]);
    expect(outcome).toEqual({ status: 0, said: expect.stringContaining("SUCCESS") });
  });

  test("what burns slowly is a ticket, and slowness is told from failure", () => {
    // One in 200 fails: five times too often. A quarter is slow: 25 times too often.
    const outcome = firing(
      {
        [requests]: "0+4000x720",
        [failed]: "0+20x720",
        [timed]: "0+4000x720",
        [slow]: "0+1000x720",
      },
      [
        { at: "24h", alert: "AvailabilityBurnsFast", fires: false },
        { at: "24h", alert: "AvailabilityBurns", fires: true },
        { at: "24h", alert: "LatencyBurnsFast", fires: true },
      ],
      "2m",
    );
    expect(outcome).toEqual({ status: 0, said: expect.stringContaining("SUCCESS") });
  });

  test("a service that is gone, or not ready, or restarts, or lacks something, is told apart", () => {
    const up = (what: string): string => `opwright_up{job="tracker",what="${what}"}`;
    const service = { job: "tracker", what: "service" };
    const gone = firing({ [up("service")]: "1x20 _x60" }, [
      { at: "4m", alert: "ServiceGone", fires: false },
      { at: "15m", alert: "ServiceGone", fires: service },
      { at: "15m", alert: "ServiceNotReady", fires: false },
    ]);
    expect(gone.said).toContain("SUCCESS");
    const away = firing({ [up("service")]: "1x8 0x60", [up("database")]: "_x8 0x60" }, [
      { at: "1m", alert: "ServiceNotReady", fires: false },
      { at: "5m", alert: "ServiceNotReady", fires: { job: "tracker" } },
      { at: "5m", alert: "ServiceGone", fires: false },
      { at: "10m", alert: "SomethingMissing", fires: { job: "tracker", what: "database" } },
    ]);
    expect(away.said).toContain("SUCCESS");
    const process = 'job="tracker",instance="one"';
    const crashing = firing(
      {
        [`process_start_time_seconds{${process}}`]: "1+60x60",
        [`up{${process}}`]: "1x20 0x60",
      },
      [
        { at: "15m", alert: "ProcessRestarts", fires: { job: "tracker", instance: "one" } },
        { at: "12m", alert: "ProcessGone", fires: { job: "tracker", instance: "one" } },
      ],
    );
    expect(crashing.said).toContain("SUCCESS");
  });

  const postgres = engines.find(({ name, isAvailable }) => name === "postgres" && isAvailable);
  describe.skipIf(postgres === undefined)("that scrapes a service whose database goes away", () => {
    let end: () => Promise<void> = async () => undefined;
    let url = "";
    let service = "";
    let proxy: Awaited<ReturnType<typeof startProxy>>;
    beforeAll(async () => {
      const database = await postgres?.create();
      if (database === undefined) throw new Error("there is no PostgreSQL");
      const direct = new URL(database.url);
      proxy = await startProxy(direct.hostname, Number(direct.port || 5432));
      const tracker = await startProcess({
        DATABASE_URL: proxy.url(database.url),
        LOG_LEVEL: "info",
      });
      service = tracker.url;
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      // As often, and as soon, as a test can wait for; all windows are those of the file.
      writeFileSync(
        join(folder, "quick.yaml"),
        rules
          .replaceAll(/interval: \w+/g, "interval: 1s")
          .replaceAll("for: 1m", "for: 5s")
          .replaceAll(/ +keep_firing_for: \w+\n/g, ""),
      );
      writeFileSync(
        join(folder, "prometheus.yaml"),
        JSON.stringify({
          global: { scrape_interval: "1s" },
          rule_files: ["quick.yaml"],
          scrape_configs: [
            { job_name: "tracker", static_configs: [{ targets: [new URL(service).host] }] },
          ],
        }),
      );
      const prometheus = spawn(
        "prometheus",
        [
          "--config.file=prometheus.yaml",
          `--web.listen-address=127.0.0.1:${port}`,
          `--storage.tsdb.path=${join(folder, "data")}`,
        ],
        { cwd: folder, stdio: "ignore" },
      );
      end = async () => {
        await ended(prometheus, "SIGKILL");
        await ended(tracker.child, "SIGKILL");
        await proxy.close();
        await database.drop();
      };
      await vi.waitUntil(async () => (await query('opwright_up{what="service"} == 1')).length > 0, {
        timeout: 30_000,
        interval: 200,
      });
    });
    afterAll(() => end());

    const query = async (expression: string): Promise<readonly unknown[]> => {
      const to = `${url}/api/v1/query?query=${encodeURIComponent(expression)}`;
      const answer = await fetch(to).catch(() => undefined);
      if (answer === undefined || !answer.ok) return [];
      return ((await answer.json()) as { data: { result: unknown[] } }).data.result;
    };
    /** Alerts that fire, by name. */
    const alerts = async (): Promise<readonly string[]> => {
      const fires = (await query('ALERTS{alertstate="firing"}')) as {
        metric: { alertname: string };
      }[];
      return fires.map(({ metric }) => metric.alertname).sort();
    };
    const ask = async (): Promise<number> => {
      const answer = await fetch(`${service}/places/list`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      return answer.status;
    };

    test("calls somebody, and each query of the dashboard has a result", async () => {
      await proxy.become({ kind: "pass" });
      await vi.waitUntil(async () => (await ask()) === 200, { timeout: 30_000, interval: 100 });
      for (let times = 0; times < 60; times += 1) {
        expect(await ask()).toBe(200);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      // On a busy machine the first scrape may be late.
      await vi.waitUntil(async () => (await alerts()).length === 0, { timeout: 60_000 });
      const metrics = await (await fetch(`${service}/metrics`)).text();
      const checked = promtool(["check", "metrics"], metrics);
      expect([checked.status, checked.said]).toEqual([0, ""]);
      await proxy.become({ kind: "refuse" });
      proxy.cut();
      const since = Date.now();
      await vi.waitUntil(
        async () => {
          await Promise.all(Array.from({ length: 5 }, ask));
          return (await alerts()).includes("AvailabilityBurnsFast");
        },
        { timeout: 120_000, interval: 200 },
      );
      expect(Date.now() - since).toBeLessThan(120_000);
      expect(await alerts()).not.toContain("LatencyBurnsFast");
      await vi.waitUntil(async () => (await alerts()).includes("ServiceNotReady"), {
        timeout: 120_000,
        interval: 500,
      });
      const empty: string[] = [];
      for (const { title, targets } of dashboard.panels)
        for (const { expr } of targets) {
          const result = await query(expr.replaceAll("$__rate_interval", "1m"));
          if (result.length === 0) empty.push(`${title}: ${expr}`);
        }
      expect(empty).toEqual([]);
    });
  });
});

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}
