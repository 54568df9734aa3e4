// What can be seen of a running service: a line a request, figures, probes, on a port of their own where one is set (decisions.md §3).
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { defineService } from "../../../runtime/index.js";
import type { Log } from "../../../runtime/ports/log.js";
import { engines } from "../../support/engines.js";
import { slowRoute } from "../../support/slow-route.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;

/** A log whose lines can be looked at. */
function listening(): { readonly log: Log; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const line = (fields: Readonly<Record<string, unknown>>, message: string): void =>
    void lines.push({ ...fields, message });
  return { log: { debug() {}, info: line, warn: line, error: line }, lines };
}

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

async function started(
  options: Omit<Parameters<typeof startTestService>[1] & object, "engine"> = {},
): Promise<TestService> {
  if (sqlite === undefined) throw new Error("no engine");
  service = await startTestService(sqlite, options);
  return service;
}

describe("a line a request", () => {
  const definition = defineService({
    name: "slow",
    title: "Slow",
    version: "1.0.0",
    routes: [slowRoute],
  });
  const requests = (lines: readonly Record<string, unknown>[]): readonly unknown[] =>
    lines.flatMap(({ request: one }) => (one === undefined ? [] : [one]));

  test("says which operation answered what and how long it took, and no query", async () => {
    const { log, lines } = listening();
    const running = await started({ definition, log });
    const answer = await running.call("GET", "/wait?millis=0&token=a-secret");
    await running.call("GET", "/elsewhere?token=a-secret");
    await expect.poll(() => requests(lines).length).toBe(2);
    const [first, second] = requests(lines);
    expect(first).toMatchObject({
      id: answer.headers.get("x-request-id"),
      method: "GET",
      path: "/wait",
      operation: "slow.wait",
      status: 200,
    });
    expect(second).toMatchObject({ path: "/elsewhere", status: 404, code: "route_not_found" });
    expect(JSON.stringify(lines)).not.toContain("a-secret");
  });

  test("marks what was aborted and what was slow", async () => {
    const { log, lines } = listening();
    const running = await started({ definition, log });
    const leaving = request(`${running.url}/wait?millis=60000`);
    leaving.on("error", () => undefined);
    leaving.end();
    await once(leaving, "finish");
    await sleep(100);
    leaving.destroy();
    await running.call("GET", "/wait?millis=1100");
    await expect.poll(() => requests(lines).length).toBe(2);
    expect(requests(lines)[0]).toMatchObject({ status: null, aborted: true });
    expect(requests(lines)[1]).toMatchObject({ status: 200, slow: true });
  });
});

describe("figures", () => {
  test("count requests by operation, errors by code, and say what waits", async () => {
    const running = await started();
    await running.call("GET", "/tasks/01890000-0000-7000-8000-000000000001");
    const metrics = async (): Promise<string> => (await running.call("GET", "/metrics")).body;
    await expect.poll(metrics).toContain('opwright_errors_total{code="core.not_found"} 1');
    const text = await metrics();
    expect(text).toContain('opwright_request_seconds_count{operation="tasks.get",status="4xx"} 1');
    for (const name of ["reads_waiting", "writes_running", "connections_open", "answers_bytes"])
      expect(text).toMatch(new RegExp(`^opwright_${name} \\d`, "m"));
    expect(text).toContain('opwright_up{what="service"} 1');
    expect(text).toContain("nodejs_eventloop_lag_seconds");
    expect(text).toMatch(/^opwright_realtime_turned_away_total \d/m);
    expect(text).not.toMatch(/^opwright_\w*[A-Z]/m);
  });

  test("and probes are where the service puts them", async () => {
    const probes = { livez: "/health/live", readyz: "/health/ready" };
    const bare = { name: "bare", title: "Bare", version: "1.0.0", routes: [] };
    const running = await started({ definition: defineService({ ...bare, probes }) });
    for (const path of Object.values(probes))
      expect([path, (await running.call("GET", path)).status]).toEqual([path, 200]);
    for (const path of ["/livez", "/readyz"])
      expect([path, (await running.call("GET", path)).status]).toEqual([path, 404]);
  });

  test("and probes are on the admin port alone where one is set", async () => {
    const running = await started({ environment: { ADMIN_PORT: "0" } });
    const { adminUrl } = running.running;
    for (const path of ["/livez", "/readyz", "/metrics"]) {
      expect((await fetch(`${adminUrl}${path}`)).status).toBe(200);
      expect((await running.call("GET", path)).status).toBe(404);
    }
    expect((await fetch(`${adminUrl}/tasks`)).status).toBe(404);
    expect((await running.call("GET", "/openapi.json")).status).toBe(200);
  });

  test("are not served to everybody in production", async () => {
    const running = await started({ environment: { METRICS: "off" } });
    expect((await running.call("GET", "/metrics")).status).toBe(404);
  });
});

describe("readiness", () => {
  test("a schema that is not up to date is named, and so is a bus that is away", async () => {
    const running = await started({
      environment: { MIGRATE: "off", BUS_URL: "redis://127.0.0.1:1" },
      signsIn: false,
    });
    const ready = await running.call("GET", "/readyz");
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: "not ready", missing: ["database", "migrations"], degraded: ["bus"] },
    ]);
    expect((await running.call("GET", "/livez")).status).toBe(200);
  });

  test("a bus that is away degrades the service, which goes on", async () => {
    const running = await started({ environment: { BUS_URL: "redis://127.0.0.1:1" } });
    const ready = await running.call("GET", "/readyz");
    expect([ready.status, ready.body]).toEqual([200, { status: "ready", degraded: ["bus"] }]);
    expect((await running.post("/projects", { name: "P", key: "PP" })).status).toBe(201);
  });
});

describe.each(engines.filter(({ isAvailable }) => isAvailable))("readiness on $name", (engine) => {
  test("a database that lacks migrations is not ready where they are left to a command", async () => {
    service = await startTestService(engine, { environment: { MIGRATE: "off" }, signsIn: false });
    const { status, body } = await service.call("GET", "/readyz");
    expect([status, body.status]).toEqual([503, "not ready"]);
    expect(body.missing).toContain("migrations");
  });
});
