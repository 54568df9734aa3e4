// The fault matrix, Redis as the bus of signals: away, silent, cut; nothing that a caller asks for needs it (attack 84).
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.js";
import { startProxy, type Proxy } from "./proxy.js";
import { startSubject, type Subject } from "./subject.js";
import { survive } from "./survive.js";
import { startTaskLoad, type TaskLoad } from "./task-load.js";

const redis = process.env["OPWRIGHT_TEST_REDIS"];

describe.skipIf(redis === undefined)("Redis behind a network that fails", () => {
  let proxy: Proxy;
  let subject: Subject;
  let load: TaskLoad;
  beforeAll(async () => {
    const { hostname, port } = new URL(redis ?? "");
    proxy = await startProxy(hostname, Number(port || 6379));
    subject = await startSubject({ BUS_URL: proxy.url(redis ?? "") });
    load = startTaskLoad(subject.client);
  });
  afterAll(async () => {
    await load.stop();
    await subject.dispose();
    await proxy.close();
  });

  const pass = (): Promise<void> => proxy.become({ kind: "pass" });

  test("connections that are reset", () => survive(subject, load, { begin: () => proxy.cut() }));

  test.each([
    ["Redis that refuses", { kind: "refuse" }],
    ["Redis that is silent", { kind: "silent" }],
    ["Redis that no longer hears", { kind: "half-open", dead: "up" }],
  ] as const)("%s", (_what, mode) =>
    survive(subject, load, {
      degraded: ["bus"],
      begin: async () => {
        await proxy.become(mode);
        if (mode.kind === "refuse") proxy.cut();
      },
      end: pass,
    }),
  );

  test("no request failed, and none was slow", () => {
    const wrong = load.outcomes.filter(
      ({ status, millis }) => ![200, 201].includes(status) || millis > 2_000,
    );
    expect(wrong.map(({ method, path, status, millis }) => [method, path, status, millis])).toEqual(
      [],
    );
  });

  test("every acknowledged write is there, and a stop while Redis is silent comes to its end", async () => {
    await load.stop();
    await load.expectAllWrites(subject.client);
    await proxy.become({ kind: "silent" });
    expect(await subject.stop()).toBeLessThan(8_000);
  });

  test("a process that starts while Redis is away is ready, and says so", async () => {
    await proxy.become({ kind: "refuse" });
    subject.process.child.kill("SIGKILL");
    subject = await subject.restarted();
    await subject.expectDegraded("bus");
    await pass();
    await subject.expectMissing();
  });
});

test.skipIf(!existsSync("/usr/bin/redis-server"))(
  "a Redis that was made a replica answers, and is named as degraded: it counts no rates",
  async () => {
    const [port, folder] = [
      String(await freePort()),
      mkdtempSync(join(tmpdir(), "opwright-redis-")),
    ];
    const server = spawn("redis-server", ["--port", port, "--bind", "127.0.0.1", "--save", ""], {
      cwd: folder,
      stdio: "ignore",
    });
    const become = (...of: readonly string[]) =>
      execFileSync("redis-cli", ["-p", port, "REPLICAOF", ...of]);
    const subject = await startSubject({ BUS_URL: `redis://127.0.0.1:${port}` });
    try {
      await subject.expectMissing();
      become("127.0.0.1", "1");
      await subject.expectDegraded("bus");
      become("NO", "ONE");
      await subject.expectMissing();
    } finally {
      await subject.dispose();
      server.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
