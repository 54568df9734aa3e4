// Start, ready, drain, stop, and settings that are refused by name (decisions.md §3).
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { defineService, fail, nothing, route } from "../../../runtime/index.js";
import { readSettings, SettingsError } from "../../../runtime/server/settings.js";
import { engines } from "../../support/engines.js";
import { startProcess } from "../../support/process.js";
import { slowRoute } from "../../support/slow-route.js";
import { startTestService } from "../../support/service.js";

const [sqlite] = engines;
if (sqlite === undefined) throw new Error("no engine");

const definition = defineService({
  name: "slow",
  title: "Slow",
  version: "1.0.0",
  routes: [
    slowRoute,
    route({
      operationId: "slow.nothing",
      method: "GET",
      path: "/nothing",
      status: 204,
      input: nothing,
      transaction: "read",
      run: () => undefined,
    }),
  ],
  app: (req, res, next) => {
    if (req.url === "/app") res.end("the app");
    else if (req.url === "/app/broken") throw new Error("a secret");
    else if (req.url === "/app/async") return Promise.reject(new Error("a secret"));
    else next();
    return undefined;
  },
});

describe("a running service", () => {
  test("probes and documents answer", async () => {
    const service = await startTestService(sqlite);
    expect((await service.call("GET", "/livez")).body).toEqual({ status: "alive" });
    expect((await service.call("GET", "/readyz")).status).toBe(200);
    expect((await service.call("GET", "/openapi.json")).body.openapi).toBe("3.1.0");
    expect((await service.call("HEAD", "/readyz")).status).toBe(200);
    await service.stop();
  });

  test("requests without a route go to the app, whose faults are masked", async () => {
    const service = await startTestService(sqlite, { definition });
    expect((await service.call("GET", "/app")).body).toBe("the app");
    for (const path of ["/app/broken", "/app/async"]) {
      const broken = await service.call("GET", path);
      expect([
        broken.status,
        broken.body.code,
        JSON.stringify(broken.body).includes("secret"),
      ]).toEqual([500, "core.internal", false]);
    }
    expect((await service.call("GET", "/elsewhere")).body.code).toBe("route_not_found");
    expect((await service.call("GET", "/nothing")).status).toBe(204);
    await service.stop();
  });

  test("draining: not ready first, running requests finish, new ones are refused", async () => {
    const service = await startTestService(sqlite, {
      definition,
      environment: { SETTLE_SECONDS: "0.2", DRAIN_SECONDS: "5" },
    });
    const running = service.call("GET", "/wait?millis=500");
    await sleep(50);
    const stopping = service.stop();
    await sleep(50);
    const ready = await service.call("GET", "/readyz");
    expect([ready.status, (await service.call("GET", "/livez")).status]).toEqual([503, 200]);
    expect((await running).body).toEqual({ waited: 500 });
    await stopping;
    await expect(service.call("GET", "/livez")).rejects.toThrow();
  });

  test("a connection that was opened in advance holds nothing up", async () => {
    const service = await startTestService(sqlite, { definition });
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    const ended = once(socket, "close");
    await service.stop();
    await ended;
  }, 5_000);

  test("requests that do not finish in time are cut off", async () => {
    const service = await startTestService(sqlite, {
      definition,
      environment: { SETTLE_SECONDS: "0", DRAIN_SECONDS: "0.2" },
    });
    const running = service.call("GET", "/wait?millis=60000");
    await sleep(50);
    const refused = expect(running).rejects.toThrow();
    await service.stop();
    await refused;
  });
});

test("an error that cannot be printed is a masked 500, and the process goes on", async () => {
  const faults = [{ n: 10n }, { headers: "line" }];
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const routes = [...faults, cyclic].map((context, index) =>
    route({
      operationId: `faulty.f${index}`,
      method: "GET",
      path: `/f${index}`,
      status: 200,
      input: nothing,
      transaction: "read",
      run: (): never => {
        throw fail("core.domain", context, index === 1 ? { headers: { "X-A": "a\nb" } } : {});
      },
    }),
  );
  const service = await startTestService(sqlite, {
    definition: defineService({ name: "f", title: "F", version: "1.0.0", routes }),
  });
  for (let index = 0; index < routes.length; index += 1) {
    const answer = await service.call("GET", `/f${index}`);
    expect([answer.status, answer.body.code]).toEqual([500, "core.internal"]);
  }
  await service.stop();
});

describe("the process", () => {
  test("SIGTERM drains and exits 0; a second signal exits at once", async () => {
    const patient = await startProcess({});
    patient.child.kill("SIGTERM");
    expect(await patient.exited).toBe(0);
    // The terminal sends one to a whole group, and what started the service passes its own on.
    const twiceTold = await startProcess({ SETTLE_SECONDS: "0.3" });
    twiceTold.child.kill("SIGINT");
    while (!twiceTold.output().includes("draining")) await sleep(10);
    twiceTold.child.kill("SIGTERM");
    expect(await twiceTold.exited).toBe(0);
    const hasty = await startProcess({ SETTLE_SECONDS: "60" });
    hasty.child.kill("SIGTERM");
    while (!hasty.output().includes("draining")) await sleep(10);
    await sleep(600);
    hasty.child.kill("SIGTERM");
    expect(await hasty.exited).toBe(130);
  });

  test("a server without its settings does not start, and says which", async () => {
    await expect(
      startProcess({ NODE_ENV: "production", DATABASE_URL: "mysql://x", PORT: "x" }),
    ).rejects.toThrow(/DATABASE_URL must be[^]*PORT must be|PORT must be[^]*DATABASE_URL must be/);
  });
});

describe("settings", () => {
  const faultsOf = (environment: Record<string, string>): string => {
    try {
      readSettings({ name: "t" }, environment);
      return "";
    } catch (error) {
      return error instanceof SettingsError ? error.message : String(error);
    }
  };
  test.each([
    ["PORT", "70000"],
    ["PORT", "4400x"],
    ["DATABASE_POOL", "0"],
    ["DATABASE_URL", "redis://x"],
    ["BUS_URL", "kafka://x"],
    ["MIGRATE", "yes"],
    ["LOG_LEVEL", "loud"],
    ["DRAIN_SECONDS", "-1"],
    ["MAX_BODY_BYTES", "1e6"],
    ["SECRETS_SIGNING", "c2hvcnQ"],
    ["NODE_ENV", "Production"],
    ["NODE_ENV", "prod"],
    ["PORT", "4400.5"],
    ["PUBLIC_URL", "https://api.example/?a=b"],
    ["PUBLIC_URL", "https://user@api.example"],
    ["OBJECTS_URL", "s3://bucket?regoin=eu"],
    ["OBJECTS_URL", "s3://bucket?endpoint=minio:9000"],
  ])("%s=%s is refused by name", (name, value) => {
    expect(faultsOf({ [name]: value })).toContain(name);
  });

  test("an empty DATA_DIR is the default, and not the working directory", () => {
    expect(readSettings({ name: "t" }, { DATA_DIR: "" }).dataFolder).toMatch(/\/\.data$/);
  });

  test("production makes no secret of its own", () => {
    expect(faultsOf({ NODE_ENV: "production" })).toContain(
      "SECRETS_SIGNING must be set in production",
    );
  });
});
