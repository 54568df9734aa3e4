// What a database refuses, while a connection is made or because a right is gone, is unavailable and never a fault of the
// service; at start it is one line that names DATABASE_URL. URLs may name several servers.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { service as definition } from "../../../generated/service.js";
import { serverAddresses } from "../../../runtime/engines/postgres/addresses.js";
import { silentLog } from "../../../runtime/ports/log.js";
import { readSettings, SettingsError } from "../../../runtime/server/settings.js";
import { start } from "../../../runtime/server/start.js";
import { startFault } from "../../../runtime/server/start-fault.js";
import { databaseAt, engines, type FreshDatabase } from "../../support/engines.js";
import { hasPostgresBinaries, startCluster } from "../../faults/postgres-cluster.js";
import { freePort } from "../../support/free-port.js";
import { recordingLog } from "../../support/recording-log.js";
import { generated, startTestService, type TestService } from "../../support/service.js";

const postgres = engines.find(({ name }) => name === "postgres");
const server = process.env["OPWRIGHT_TEST_POSTGRES"] ?? "";

async function onServer(statement: string, connectionString = server): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Starts the service with this DATABASE_URL, and resolves with what an operator reads. */
async function faultOf(url: string): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), "opwright-refused-"));
  try {
    const environment = { PORT: "0", DATA_DIR: data, DATABASE_URL: url, BUS_URL: "none" };
    const settings = readSettings(definition, environment);
    const running = await start(definition, { settings, folder: generated, log: silentLog });
    await running.stop();
    return "";
  } catch (error) {
    return startFault(error, undefined);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

describe.skipIf(postgres?.isAvailable !== true)("a PostgreSQL server that refuses", () => {
  const role = `opwright_test_${randomBytes(6).toString("hex")}`;
  let database: FreshDatabase;
  let name: string;
  let url: string;
  let service: TestService;
  beforeAll(async () => {
    if (postgres === undefined) return;
    database = await postgres.create();
    name = new URL(database.url).pathname.slice(1);
    await onServer(
      `CREATE ROLE ${role} LOGIN PASSWORD 'secret'; ALTER DATABASE ${name} OWNER TO ${role}`,
    );
    const own = new URL(database.url);
    own.username = role;
    own.password = "secret";
    url = own.href;
    const create = async () => databaseAt(url);
    service = await startTestService({ ...postgres, create });
  });
  afterAll(async () => {
    await service?.stop();
    await database?.drop();
    await onServer(`DROP ROLE IF EXISTS ${role}`);
  });

  const end = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${role}'`;
  const get = () => service.call("GET", "/projects/01890000-0000-7000-8000-000000000001");

  test.each([
    ["its role may not log in", `ALTER ROLE ${role} NOLOGIN`, `ALTER ROLE ${role} LOGIN`],
    [
      "its role has no connection left",
      `ALTER ROLE ${role} CONNECTION LIMIT 0`,
      `ALTER ROLE ${role} CONNECTION LIMIT -1`,
    ],
    [
      "the database is closed",
      `ALTER DATABASE $DB ALLOW_CONNECTIONS false`,
      `ALTER DATABASE $DB ALLOW_CONNECTIONS true`,
    ],
    [
      "the database is gone",
      `ALTER DATABASE $DB RENAME TO $DB_gone`,
      `ALTER DATABASE $DB_gone RENAME TO $DB`,
    ],
  ])("while the service runs: %s", async (_what, refuse, allow) => {
    await onServer(refuse.replaceAll("$DB", name)).catch(async (error: unknown) => {
      // A database with connections can't be renamed.
      if (!refuse.includes("RENAME")) throw error;
      await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await onServer(end);
      await onServer(refuse.replaceAll("$DB", name));
    });
    await onServer(end);
    try {
      const answers = await Promise.all(Array.from({ length: 8 }, get));
      for (const { status, headers, body } of answers)
        expect([status, body.code, headers.has("retry-after")]).toEqual([
          503,
          "core.unavailable",
          true,
        ]);
      await expect
        .poll(async () => (await service.call("GET", "/readyz")).status, { timeout: 5_000 })
        .toBe(503);
    } finally {
      await onServer(allow.replaceAll("$DB", name));
      await onServer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    }
    await expect
      .poll(async () => (await service.call("GET", "/readyz")).status, { timeout: 5_000 })
      .toBe(200);
    expect((await get()).status).toBe(404);
  });

  test("while the service runs: its own connection is the only one that its role may have", async () => {
    await onServer(`ALTER ROLE ${role} CONNECTION LIMIT 1`);
    await onServer(end);
    try {
      const ready = async () => (await service.call("GET", "/readyz")).status;
      await expect.poll(ready, { timeout: 5_000 }).toBe(503);
      // A check is remembered for a second.
      for (let checks = 0; checks < 4; checks += 1) {
        const answers = await Promise.all([get(), get()]);
        const states = answers.map(({ status, headers }) => [status, headers.has("retry-after")]);
        expect([await ready(), ...states]).toEqual([503, [503, true], [503, true]]);
        await sleep(1_050);
      }
    } finally {
      await onServer(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
    }
    await expect
      .poll(async () => (await service.call("GET", "/readyz")).status, { timeout: 5_000 })
      .toBe(200);
    expect((await get()).status).toBe(404);
  }, 20_000);

  test("at start: a service whose callers would get no connection waits for one", async () => {
    await service.stop();
    await onServer(`ALTER ROLE ${role} CONNECTION LIMIT 1`);
    let isStarted = false;
    const log = recordingLog();
    const create = async () => databaseAt(url);
    if (postgres === undefined) return;
    const starting = startTestService({ ...postgres, create }, { log }).then((started) => {
      isStarted = true;
      return started;
    });
    const isWaiting = (): boolean =>
      log.lines.some(
        ({ message, error }) =>
          message.startsWith("waiting for the database") && error.includes("too many connections"),
      );
    await expect.poll(isWaiting, { timeout: 10_000 }).toBe(true);
    expect(isStarted).toBe(false);
    await onServer(`ALTER ROLE ${role} CONNECTION LIMIT -1`);
    service = await starting;
    expect((await get()).status).toBe(404);
  }, 30_000);

  test("a right on one table that is gone: its operations are unavailable, and the service is not ready", async () => {
    await onServer(`ALTER TABLE projects OWNER TO postgres`, database.url);
    await onServer(`GRANT SELECT, INSERT, UPDATE, DELETE ON projects TO ${role}`, database.url);
    expect((await get()).status).toBe(404);
    await onServer(`REVOKE SELECT ON projects FROM ${role}`, database.url);
    const { status, headers, body } = await get();
    expect([status, body.code, headers.has("retry-after")]).toEqual([
      503,
      "core.unavailable",
      true,
    ]);
    await expect
      .poll(async () => (await service.call("GET", "/readyz")).status, { timeout: 5_000 })
      .toBe(503);
    await onServer(`GRANT SELECT ON projects TO ${role}`, database.url);
    await expect
      .poll(async () => (await service.call("GET", "/readyz")).status, { timeout: 5_000 })
      .toBe(200);
    expect((await get()).status).toBe(404);
  });

  test("the right to its schema is gone: requests are unavailable, and the service is not ready", async () => {
    await onServer(`REVOKE USAGE ON SCHEMA public FROM PUBLIC`, database.url);
    await onServer(`ALTER SCHEMA public OWNER TO postgres`, database.url);
    await onServer(end);
    try {
      const made = await service.post("/projects", { name: "P", key: "SCHEMA" });
      for (const { status, headers, body } of [await get(), made])
        expect([status, body.code, headers.has("retry-after")]).toEqual([
          503,
          "core.unavailable",
          true,
        ]);
      await expect
        .poll(async () => (await service.call("GET", "/readyz")).status, { timeout: 5_000 })
        .toBe(503);
    } finally {
      await onServer(`GRANT USAGE ON SCHEMA public TO PUBLIC`, database.url);
      await onServer(`ALTER SCHEMA public OWNER TO pg_database_owner`, database.url);
    }
    await expect
      .poll(async () => (await service.call("GET", "/readyz")).status, { timeout: 5_000 })
      .toBe(200);
    expect((await get()).status).toBe(404);
  });

  test("at start, a refusal is one line that names the setting and the database, without the password", async () => {
    const missing = new URL(url);
    missing.pathname = "/opwright_test_nowhere";
    const place = `${missing.host}/opwright_test_nowhere`;
    expect(await faultOf(missing.href)).toMatch(
      new RegExp(
        `^core.unavailable: DATABASE_URL postgres://${role}@${place}: .*opwright_test_nowhere.*\\(3D000\\)$`,
      ),
    );
    const untrusted = new URL(url);
    untrusted.searchParams.set("sslmode", "verify-full");
    const fault = await faultOf(untrusted.href);
    expect(fault).toMatch(/^core.unavailable: DATABASE_URL .*(?:certificate|SSL)[^\n]*$/);
    expect(fault).not.toContain("secret");
  });

  test("at start, a schema that isn't there is named with the setting that asks for it", async () => {
    const nowhere = new URL(url);
    nowhere.searchParams.set("options", "-c search_path=nowhere");
    expect(await faultOf(nowhere.href)).toBe(
      "core.unavailable: DATABASE_URL: search_path is nowhere (set by the options of DATABASE_URL, or PGOPTIONS), and no such schema exists, or the role may not use it: create the schema, or set another search_path",
    );
    await onServer(`ALTER ROLE ${role} SET search_path = elsewhere, "Nowhere"`);
    expect(await faultOf(url)).toContain(
      'search_path is elsewhere, "Nowhere" (set by ALTER ROLE … SET), and no such schema exists',
    );
    await onServer(`ALTER ROLE ${role} RESET search_path`);
  });

  test("of several servers, the first that answers is used", async () => {
    const { hostname, port, pathname, username } = new URL(url);
    const dead = await freePort();
    const several = `postgres://${username}:secret@127.0.0.1:${dead},${hostname}:${port || 5432}${pathname}?target_session_attrs=read-write`;
    expect(await faultOf(several)).toBe("");
    const named = `postgres://${username}:secret@${pathname}?host=127.0.0.1,${hostname}&port=${dead},${port || 5432}`;
    expect(await faultOf(named)).toBe("");
  });

  test.skipIf(!hasPostgresBinaries)(
    "of several servers, a standby gives way to the one that accepts writes",
    async () => {
      const cluster = await startCluster();
      try {
        await cluster.sql(`CREATE ROLE ${role} LOGIN SUPERUSER`);
        await cluster.sql(`CREATE DATABASE ${name}`);
        await cluster.crash();
        cluster.becomeStandby();
        await cluster.start();
        const { hostname, port, pathname, username } = new URL(url);
        const several = `postgres://${username}@127.0.0.1:${new URL(cluster.url).port},${hostname}:${port || 5432}${pathname}`;
        if (postgres === undefined) return;
        const create = async () => databaseAt(several);
        const other = await startTestService(
          { ...postgres, create },
          { environment: { BUS_URL: several } },
        );
        expect((await other.post("/projects", { name: "P", key: "SEVERAL" })).status).toBe(201);
        await expect
          .poll(async () => (await other.call("GET", "/readyz")).body)
          .toMatchObject({ status: "ready" });
        await other.stop();
      } finally {
        await cluster.remove();
      }
    },
  );
});

test.each([
  ["postgres://u:p@a:1,b:2/d?target_session_attrs=standby", "target_session_attrs=standby"],
  ["postgres://u:p@a:1,,b:2/d", "a host that can't be read"],
  ["postgres://u:p@a:99999/d", "a host that can't be read"],
  ["postgres://u:p#x@a/d", "can't be read"],
  ["postgres://u@/d?host=a,b&port=1,2,3", "one port, or as many as hosts"],
])("%s is refused at start by its name", (url, reason) => {
  const read = () => readSettings(definition, { DATABASE_URL: url });
  expect(read).toThrow(SettingsError);
  expect(read).toThrow("DATABASE_URL");
  expect(read).toThrow(reason);
});

test.each([
  ["require", "verify-full"],
  ["prefer", "verify-full"],
  ["verify-ca", "verify-full"],
  ["no-verify", "no-verify"],
  ["disable", "disable"],
  ["require&uselibpqcompat=true", "require&uselibpqcompat=true"],
])("sslmode=%s is what pg makes of it, and pg warns of nothing", (mode, meant) => {
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const { urls } = serverAddresses(`postgres://u@a/d?sslmode=${mode}`);
  expect(urls).toEqual([`postgres://u@a/d?sslmode=${meant}`]);
  expect(new Client({ connectionString: urls[0] })).toHaveProperty("host", "a");
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test("a URL of several servers is one for each, with what it says of sessions apart", () => {
  expect(
    serverAddresses(
      "postgres://u:p%40@a:1,[::1]:2,c/d?target_session_attrs=any&options=-c%20search_path%3Dx&sslmode=disable",
    ),
  ).toEqual({
    urls: ["a:1", "[::1]:2", "c"].map((place) => `postgres://u:p%40@${place}/d?sslmode=disable`),
    mustWrite: true,
    options: "-c search_path=x",
    plain: "postgres://u@a:1,[::1]:2,c/d",
  });
});
