// What `opwright build` writes: one folder in which the reference service runs on nothing but Node.js, with every engine and
// transport. It is tried in a folder above which there are no packages.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { cli } from "../../generator/cli.js";
import { buses, type FreshBus } from "../../support/bus-engines.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { callerOver, type Over } from "../../support/over-http.js";
import {
  firstToken,
  runCommand,
  startProcess,
  type ServerPlace,
  type ServiceProcess,
} from "../../support/process.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  type Client,
} from "../../support/realtime-clients.js";

const repository = new URL("../../..", import.meta.url).pathname;
const parent = mkdtempSync(join(tmpdir(), "opwright-artefact-"));
const folder = join(parent, "tracker");
const place: ServerPlace = { entry: join(folder, "server.js"), cwd: folder };

beforeAll(async () => {
  const { code, stdout, stderr } = await cli(repository, "build", "--to", folder);
  expect([code, stderr + stdout]).toEqual([
    0,
    expect.stringMatching(/tracker: [\d.]+ MB and [\d.]+ MB of native modules, of \d+ packages\n$/),
  ]);
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const redis = buses.find(({ name }) => name === "redis");

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  const objectEngine = objectEngines.find(
    ({ name, isAvailable }) =>
      isAvailable && name === (engine.name === "postgres" ? "s3" : "folder"),
  );
  let database: FreshDatabase;
  let objects: FreshObjects | undefined;
  let bus: FreshBus | undefined;
  let environment: Readonly<Record<string, string>>;
  let service: ServiceProcess;
  let token = "";
  let call: Over["call"];

  beforeAll(async () => {
    database = await engine.create();
    objects = await objectEngine?.create();
    if (engine.name === "postgres" && redis?.isAvailable) bus = await redis.create();
    environment = {
      ...database.environment,
      ...objects?.environment,
      ...(objects === undefined ? {} : { OBJECTS_URL: objects.url }),
      ...(bus === undefined ? {} : { BUS_URL: bus.url }),
      DATA_DIR: join(parent, `data-${engine.name}`),
      LOG_LEVEL: "info",
    };
    service = await startProcess({ ...environment, SETTLE_SECONDS: "0" }, place);
    token = await firstToken(service.url, environment, place);
    ({ call } = callerOver(service.url, token));
  });
  afterAll(async () => {
    service.child.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    await database.drop();
    await objects?.drop();
    await bus?.drop();
  });

  test("documents are written, listed and found by the stems of their words", async () => {
    const made = await call("POST", "/articles", {
      title: "Running quickly",
      body: "Foxes were jumping.",
    });
    expect(made.status).toBe(201);
    const found = await call("POST", "/articles/typed", { query: "jumped fox" });
    expect([found.status, found.body.hits?.[0]?.id ?? found.body]).toEqual([200, made.body.id]);
    const refused = await call("POST", "/articles", { title: 1 });
    expect([refused.status, refused.body.code]).toEqual([422, "core.validation"]);
  });

  test("files are uploaded by a form, recognized, and read again", async () => {
    const form = new FormData();
    const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
    form.set("file", new Blob([png]), "a.png");
    const stored = await call("POST", "/files", form);
    expect(stored.status).toBe(201);
    const read = await fetch(`${service.url}/files/${stored.body.key}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect([read.status, Buffer.from(await read.arrayBuffer())]).toEqual([200, png]);
  });

  test("a signal reaches every transport", async () => {
    const { body: me } = await call("GET", "/auth/me");
    const clients: readonly Client[] = await Promise.all(
      [connectSse, connectWebSocket, connectSocketIo].map((connect, index) =>
        connect(service, { token }, { device: `d${index}` }),
      ),
    );
    try {
      const task = await call("POST", "/tasks", {
        title: "T",
        project: crypto.randomUUID(),
        assignee: me.principal_id ?? me.id,
      });
      expect([task.status, task.body]).toEqual([201, expect.anything()]);
      for (const client of clients)
        await vi.waitFor(() =>
          expect(client.heard.map(({ event }) => event)).toContain("task.assigned"),
        );
    } finally {
      for (const client of clients) client.close();
    }
  });

  test("pages, documents and metrics are served", async () => {
    for (const path of ["/docs", "/docs/operations", "/console", "/openapi.json", "/asyncapi.json"])
      expect([path, (await fetch(`${service.url}${path}`)).status]).toEqual([path, 200]);
    const page = await (await fetch(`${service.url}/docs`)).text();
    const [, script = ""] = /src="([^"]+)"/.exec(page) ?? [];
    expect((await fetch(new URL(script, `${service.url}/docs`))).status).toBe(200);
    const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain(`opwright="${version}"`);
    // Code of the project's own that asks where it is.
    expect((await fetch(`${service.url}/`)).status).toBe(200);
  });

  test("commands work, too", async () => {
    const migrated = await runCommand(environment, ["migrate"], { place });
    expect([migrated.status, migrated.stderr]).toEqual([0, ""]);
    const looked = await runCommand(environment, ["doctor"], { place });
    expect(looked.stdout).not.toMatch(/^wrong/m);
    expect(looked.status).toBe(0);
  });
});

test("it lists each package that is in it, with its license", async () => {
  const text = readFileSync(join(folder, "sbom.cdx.json"), "utf8");
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(text)).toBeNull();
  const sbom = JSON.parse(text);
  const names = sbom.components.map(({ group, name }: Record<string, string>) =>
    group === undefined ? name : `${group}/${name}`,
  );
  const expected = [
    "argon2",
    "express",
    "libsql",
    "opwright",
    "pg",
    "pino",
    "preact",
    "redis",
    "ws",
  ];
  expect(names).toEqual(
    expect.arrayContaining(["@aws-sdk/client-s3", "@orama/stemmers", ...expected]),
  );
  for (const name of ["ts-morph", "handlebars", "commander", "recheck"])
    expect(names).not.toContain(name);
  const licenses = readFileSync(join(folder, "LICENSES.txt"), "utf8");
  for (const one of sbom.components) {
    const name = one.group === undefined ? one.name : `${one.group}/${one.name}`;
    expect(licenses).toContain(`${name} ${one.version}\n`);
  }
  // What was installed, to the byte.
  const hashed = sbom.components.filter(({ hashes }: { hashes?: unknown }) => hashes !== undefined);
  expect(hashed.length).toBeGreaterThan(0.9 * names.length);
});

test("each of its files is JavaScript that Node.js reads, or is copied as it was", () => {
  const { status, stderr } = spawnSync(process.execPath, ["--check", "server.js"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toMatchObject({
    name: "tracker",
    type: "module",
    private: true,
    engines: { node: ">=20.19.0" },
  });
});
