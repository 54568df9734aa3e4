// How the process of a service begins: in production without demos, and in one line where it cannot listen.
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand, startProcess } from "../../support/process.js";

test("production serves no demo, and says nothing of one", async () => {
  const secrets = [
    "SIGNING",
    "ACCESS_TOKEN",
    "REFRESH_PEPPER",
    "RESET_PEPPER",
    "OBJECTS",
    "WEBHOOK",
  ];
  const service = await startProcess({
    NODE_ENV: "production",
    DESTINATION_NOTIFICATIONS: "https://notifications.example",
    SETTLE_SECONDS: "0",
    ...Object.fromEntries(
      secrets.map((name) => [`SECRETS_${name}`, randomBytes(32).toString("base64url")]),
    ),
  });
  for (const page of ["upload", "upload.js", "live", "live.js", "socket.io.js"]) {
    const answer = await fetch(`${service.url}/demo/${page}`);
    expect([page, answer.status, await answer.json()]).toEqual([
      page,
      404,
      expect.objectContaining({ code: "route_not_found" }),
    ]);
  }
  const home = await (await fetch(`${service.url}/`)).text();
  expect([home.includes("/openapi.json"), home.includes("demo")]).toEqual([true, false]);
  service.child.kill("SIGTERM");
  expect(await service.exited).toBe(0);
});

describe("a process that cannot listen ends with 1 and one line", () => {
  const other = createServer();
  beforeAll(() => new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve)));
  afterAll(() => new Promise<void>((resolve) => other.close(() => resolve())));
  const started = (environment: Readonly<Record<string, string>>) =>
    runCommand({ DATA_DIR: mkdtempSync(join(tmpdir(), "opwright-data-")), ...environment }, []);

  test("where its port is in use", async () => {
    const { port } = other.address() as AddressInfo;
    expect(await started({ PORT: String(port) })).toEqual({
      status: 1,
      stdout: "",
      stderr: `port ${port} of 127.0.0.1 is in use: end the process that has it, or set PORT to another one\n`,
    });
  });

  test("where HOST is not an address of this machine", async () => {
    // RFC 5737: nobody has it.
    expect(await started({ PORT: "0", HOST: "192.0.2.1" })).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "HOST 192.0.2.1 is no address of this machine: set it to one, or to 0.0.0.0 for all\n",
    });
  });

  test("where HOST has no address", async () => {
    const { status, stderr } = await started({ PORT: "0", HOST: "nowhere.invalid" });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^HOST nowhere\.invalid cannot be resolved \(E[A-Z_]+\): .*\n$/),
    ]);
  });
});
