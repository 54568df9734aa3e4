// Behind PgBouncer in transaction mode a transaction gets whatever session is free: nothing that a session keeps counts,
// deadlines end statements, and what needs a session of its own goes around the pooler or is refused by name.
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { service as definition } from "../../../generated/service.js";
import { readSettings } from "../../../runtime/server/settings.js";
import { start } from "../../../runtime/server/start.js";
import { startFault } from "../../../runtime/server/start-fault.js";
import { openPostgresBus } from "../../../runtime/engines/postgres/bus.js";
import { silentLog } from "../../../runtime/ports/log.js";
import { databaseAt, engines, type FreshDatabase } from "../../support/engines.js";
import {
  hasPgBouncer,
  keepsStatements,
  pooledEnvironment,
  startPgBouncer,
} from "../../support/pgbouncer.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { recordingLog } from "../../support/recording-log.js";
import { startSwallowingProxy } from "../../support/swallowing-proxy.js";
import { generated, startTestService, type TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  sales:
    type: {title: string, day: {type: string, format: date}, at: date-time, price: number}
    guard: open
    history: true
    unique: [[title]]
    bulk: {max: 100}
operations:
  sales.wait: {post: /wait, in: {seconds: number}, out: {}, run: registry/handlers.ts#wait, guard: open, deadline: 2s}
  sales.wait_writing: {post: /wait_writing, in: {seconds: number}, out: {}, run: registry/handlers.ts#waitWriting, guard: open, deadline: 2s, transaction: write}
  sales.commits: {post: /commits, out: {commits: string, timeout: string}, run: registry/handlers.ts#commits, guard: open}
  sales.names: {post: /names, out: {ours: number, poolers: number}, run: registry/handlers.ts#names, guard: open}
`,
  "registry/handlers.ts": `import { sql } from "opwright/runtime";
export const wait = async ({ seconds }, context) => {
  await sql(context, { n: "number" })\`SELECT 1 AS n FROM (SELECT pg_sleep(\${seconds})) s\`;
  return {};
};
export const waitWriting = wait;
export const commits = async (_input, context) => {
  const [row] = await sql(context, { commits: "string", timeout: "string" })\`SELECT current_setting('synchronous_commit') AS commits,
    current_setting('statement_timeout') AS timeout\`;
  return row;
};
export const names = async (_input, context) => {
  const [row] = await sql(context, { ours: "number", poolers: "number" })\`SELECT count(*) FILTER (WHERE name NOT LIKE 'PGBOUNCER%') AS ours,
    count(*) FILTER (WHERE name LIKE 'PGBOUNCER%') AS poolers FROM pg_prepared_statements\`;
  return row;
};
`,
};

const postgres = engines.find(({ name }) => name === "postgres");
const server = process.env["OPWRIGHT_TEST_POSTGRES"] ?? "";

describe.skipIf(postgres?.isAvailable !== true || !hasPgBouncer)("behind PgBouncer", () => {
  let project: TestProject;
  beforeAll(async () => {
    project = await testProject(files);
  });
  afterAll(() => project?.remove());

  /** A database, and a pooler in front of it with these settings. */
  const stage = async (settings: Readonly<Record<string, string | number>> = {}) => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    const database = await postgres.create();
    const pooler = await startPgBouncer(server, settings);
    const url = pooler.url(database.url);
    return {
      engine: postgres,
      database,
      pooler,
      url,
      startService: (environment: Readonly<Record<string, string>> = {}) =>
        project.start(
          { ...postgres, create: async () => lasting(database) },
          {
            environment: { ...pooledEnvironment(url, database.url), ...environment },
          },
        ),
      sql: (statement: string) => onUrl(database.url, statement),
      async end() {
        await pooler.stop();
        await database.drop();
      },
    };
  };
  type Stage = Awaited<ReturnType<typeof stage>>;

  const sale = (title: string) => ({
    title,
    day: "2026-03-02",
    at: "2026-03-01T23:30:00.5Z",
    price: 0.1,
  });

  describe("with two sessions for many callers", () => {
    let its: Stage;
    let service: TestService;
    beforeAll(async () => {
      its = await stage({ default_pool_size: 2 });
      service = await its.startService();
    });
    afterAll(async () => {
      await service?.stop();
      await its?.end();
    });

    test("sixteen callers write and read at once", async () => {
      const titles = Array.from({ length: 48 }, (_none, at) => `sale ${at}`);
      const made = await Promise.all(titles.map((title) => service.post("/sales", sale(title))));
      expect(made.map(({ status }) => status)).toEqual(titles.map(() => 201));
      const changed = await Promise.all(
        made.map(({ body }) =>
          service.call("PATCH", `/sales/${body.id}?rev=${body.rev}`, { body: { price: 2.5 } }),
        ),
      );
      expect(changed.map(({ status }) => status)).toEqual(titles.map(() => 200));
      const listed = await Promise.all(
        titles.map(() => service.post("/sales/list", { filters: { $values: { price: 2.5 } } })),
      );
      expect(new Set(listed.map(({ body }) => body.count))).toEqual(new Set([48]));
      expect(listed[0]?.body.hits[0]).toMatchObject({ day: "2026-03-02", price: 2.5 });
      expect(listed[0]?.body.hits[0].at).toMatch(/^2026-03-01T23:30:00\.5/);
    });

    test.each(["/wait", "/wait_writing"])("a deadline ends the statement of %s", async (path) => {
      const begun = Date.now();
      const [late] = await Promise.all([
        service.post(path, { seconds: 30 }),
        // Others go on beside it, and behind it.
        service.post("/wait", { seconds: 0 }),
      ]);
      expect(late.status).toBe(504);
      expect(Date.now() - begun).toBeLessThan(20_000);
      const active = `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep%' AND state <> 'idle' AND pid <> pg_backend_pid()`;
      await expect.poll(() => its.sql(active)).toEqual([]);
      expect((await service.post("/wait", { seconds: 0 })).status).toBe(200);
    });

    test("more statements that never end than sessions: all are ended, and the next caller is served", async () => {
      const late = await Promise.all(
        Array.from({ length: 6 }, () => service.post("/wait", { seconds: 60 })),
      );
      expect(new Set(late.map(({ status }) => status))).toEqual(new Set([504]));
      await expect.poll(async () => (await service.post("/wait", { seconds: 0 })).status).toBe(200);
    });

    test("statements are prepared under the pooler's names, or not at all", async () => {
      const { status, body } = await service.post("/names", {});
      expect([status, body.ours, body.poolers > 0]).toEqual([200, 0, keepsStatements()]);
    });

    test("a pooler that ends and starts again costs answers of 503, and nothing else", async () => {
      await its.pooler.kill();
      const [gone] = await Promise.all([service.call("GET", "/readyz"), sleep(100)]);
      expect(gone.status).toBe(503);
      expect((await service.post("/sales", sale("nowhere"))).status).toBe(503);
      await its.pooler.start();
      await expect.poll(async () => (await service.post("/sales", sale("again"))).status).toBe(201);
    });
  });

  describe("with one session, in which others leave something behind", () => {
    let its: Stage;
    let service: TestService;
    beforeAll(async () => {
      its = await stage({ default_pool_size: 1 });
      service = await its.startService();
    });
    afterAll(async () => {
      await service?.stop();
      await its?.end();
    });
    const leaveBehind = async (...statements: readonly string[]): Promise<void> => {
      const other = new Client({ connectionString: its.url });
      await other.connect();
      try {
        for (const statement of statements) await other.query(statement);
      } finally {
        await other.end();
      }
    };

    test("a temporary table of a table's name takes no write", async () => {
      await leaveBehind("CREATE TEMP TABLE sales (LIKE public.sales INCLUDING ALL)");
      const { status, body } = await service.post("/sales", sale("into the real one"));
      expect(status).toBe(201);
      const kept = `SELECT count(*)::int AS n FROM public.sales WHERE id = '${body.id}'`;
      expect(await its.sql(kept)).toEqual([{ n: 1 }]);
      await leaveBehind("DROP TABLE pg_temp.sales");
    });

    test("what others leave behind in a session doesn't count", async () => {
      await leaveBehind(
        `SET datestyle = 'German'; SET timezone = 'Pacific/Chatham'; SET search_path = pg_catalog;
        SET synchronous_commit = off; SET lock_timeout = '1ms'; SET bytea_output = escape`,
        "SET statement_timeout = '20ms'",
      );
      const { status, body } = await service.post("/sales", sale("behind another"));
      expect(status).toBe(201);
      const read = await service.call("GET", `/sales/${body.id}`);
      expect(read.body).toEqual(body);
      expect((await service.call("GET", "/readyz")).status).toBe(200);
      await leaveBehind("RESET ALL");
    });

    test.each([
      ["SET default_transaction_read_only = on", "RESET default_transaction_read_only"],
      ["SET ROLE pg_monitor", "RESET ROLE"],
      ["SET SESSION AUTHORIZATION pg_monitor", "RESET SESSION AUTHORIZATION"],
      ["SET default_transaction_isolation = serializable", "RESET default_transaction_isolation"],
    ])("%s doesn't count", async (statement, undo) => {
      await leaveBehind(statement);
      expect((await service.post("/sales", sale(statement))).status).toBe(201);
      await leaveBehind(undo);
    });
  });

  test("migrations and signals go around it: no lock stays in a session of the pooler", async () => {
    const its = await stage();
    const begin = () =>
      startTestService(
        { ...its.engine, create: async () => lasting(its.database) },
        { environment: pooledEnvironment(its.url, its.database.url) },
      );
    const one = await begin();
    const two = await begin();
    const locks = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    expect(await its.sql(locks)).toEqual([]);
    const buses = `SELECT client_port FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'opwright bus'`;
    await expect.poll(() => its.sql(buses)).toHaveLength(2);
    await one.stop();
    await two.stop();
    await its.end();
  });

  test("without a way around it, MIGRATE=off and BUS_URL say so", async () => {
    const its = await stage();
    await (await its.startService()).stop();
    const alone = { MIGRATE: "off", BUS_URL: "none", DATABASE_DIRECT_URL: "" };
    const service = await its.startService(alone);
    expect((await service.post("/sales", sale("alone"))).status).toBe(201);
    await service.stop();
    await its.end();
  });

  test("URL options are set in each transaction", async () => {
    const its = await stage();
    await its.sql("CREATE SCHEMA app");
    const [direct, pooled] = [new URL(its.database.url), new URL(its.url)];
    for (const url of [direct, pooled])
      url.searchParams.set(
        "options",
        "-c search_path=app -csynchronous_commit=off --default-transaction-read-only=off -c statement_timeout=1",
      );
    await its.sql(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
    );
    for (const name of ["statement_timeout", "lock_timeout"])
      pooled.searchParams.set(name, "40000");
    const service = await its.startService({
      DATABASE_URL: pooled.href,
      DATABASE_DIRECT_URL: direct.href,
    });
    expect((await service.post("/sales", sale("elsewhere"))).status).toBe(201);
    expect((await service.post("/commits", {})).body).toEqual({ commits: "on", timeout: "35s" });
    await service.stop();
    expect(await its.sql("SELECT count(*)::int AS n FROM app.sales")).toEqual([{ n: 1 }]);
    await its.end();
  });

  test("without a pooler, a deadline ends its statement whatever the URL calls the service", async () => {
    const its = await stage();
    const url = new URL(its.database.url);
    url.searchParams.set("application_name", `café ${"x".repeat(80)}`);
    const service = await its.startService({
      DATABASE_URL: url.href,
      DATABASE_DIRECT_URL: "",
      DATABASE_POOLER: "none",
    });
    expect((await service.post("/wait", { seconds: 30 })).status).toBe(504);
    const active = `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep%' AND state <> 'idle' AND pid <> pg_backend_pid()`;
    await expect.poll(() => its.sql(active)).toEqual([]);
    await service.stop();
    await its.end();
  });

  /** A service with few connections behind a network that may fall silent. */
  const behindSilence = async (environment: Readonly<Record<string, string>>) => {
    const its = await stage();
    const proxy = await startSwallowingProxy(
      environment["DATABASE_POOLER"] === "none" ? its.database.url : its.url,
    );
    const service = await its.startService({
      DATABASE_URL: proxy.url(its.database.url),
      DATABASE_POOL: "5",
      ...environment,
    });
    return {
      proxy,
      service,
      async end() {
        proxy.close();
        await service.stop();
        await its.end();
      },
    };
  };
  const ask = (service: TestService, seconds: number) => service.post("/wait", { seconds });

  test("a silence where a read's transaction ends holds no connection for ever", async () => {
    const { proxy, service, end } = await behindSilence({});
    const list = () => service.post("/sales/list", {});
    await Promise.all([0, 1, 2].map(list));
    proxy.swallows = (type, message) => type === "C" && message.includes("COMMIT");
    await Promise.all([0, 1, 2, 3].map(list));
    proxy.swallows = null;
    await expect
      .poll(async () => (await service.call("GET", "/readyz")).status, { timeout: 20_000 })
      .toBe(200);
    const answers = await Promise.all([0, 1, 2].map(list));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await end();
  });

  test.each([{}, { DATABASE_POOLER: "none", DATABASE_DIRECT_URL: "", BUS_URL: "none" }])(
    "a silence while a session is settled holds no connection for ever: %j",
    async (environment) => {
      const { proxy, service, end } = await behindSilence(environment);
      let answered = 0;
      // The first one ends the login, the next one the first statement.
      proxy.swallows = (type) => type === "Z" && (answered += 1) % 2 === 0;
      await Promise.all([0, 1, 2, 3].map(() => ask(service, 0.1)));
      proxy.swallows = null;
      await expect
        .poll(
          async () =>
            (await Promise.all([0, 1, 2].map(() => ask(service, 0.1)))).map(({ status }) => status),
          { timeout: 20_000 },
        )
        .toEqual([200, 200, 200]);
      await end();
    },
  );

  describe("a service that isn't told", () => {
    /** What an operator reads who starts it with this DATABASE_URL. */
    const faultOf = async (environment: Readonly<Record<string, string>>): Promise<string> => {
      try {
        const settings = readSettings(definition, { PORT: "0", BUS_URL: "none", ...environment });
        const running = await start(definition, { settings, folder: generated, log: silentLog });
        await running.stop();
        return "";
      } catch (error) {
        return startFault(error, undefined);
      }
    };

    test("is refused by its startup packet", async () => {
      const its = await stage();
      expect(await faultOf({ DATABASE_URL: its.url })).toMatch(
        /DATABASE_URL .*unsupported startup parameter.*set DATABASE_POOLER=transaction/,
      );
      await its.end();
    });

    const ignoring = {
      ignore_startup_parameters: "options,statement_timeout,idle_in_transaction_session_timeout",
    };

    test("notices sessions that change, before it takes a lock in one", async () => {
      const its = await stage(ignoring);
      expect(await faultOf({ DATABASE_URL: its.url })).toMatch(
        /DATABASE_URL: its sessions change between transactions: .*set DATABASE_POOLER=transaction/,
      );
      expect(await faultOf({ DATABASE_URL: its.url, MIGRATE: "off" })).toMatch(
        /its sessions change/,
      );
      const locks = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      expect(await its.sql(locks)).toEqual([]);
      await its.end();
    });

    test("of its pooler, only of the way around it, notices as well", async () => {
      const its = await stage(ignoring);
      const environment = { DATABASE_URL: its.url, DATABASE_DIRECT_URL: its.database.url };
      expect(await faultOf(environment)).toMatch(/DATABASE_URL: its sessions change/);
      await its.end();
    });

    test("a way around it that leads to another database is refused", async () => {
      const its = await stage();
      const other = await its.engine.create();
      const environment = pooledEnvironment(its.url, other.url);
      expect(await faultOf(environment)).toMatch(
        /core\.configuration: DATABASE_DIRECT_URL: 0001_initial\.sql has been applied there/,
      );
      await other.drop();
      await its.end();
    });

    test("signals don't listen in a session of the pooler", async () => {
      const its = await stage(ignoring);
      const log = recordingLog();
      const bus = await openPostgresBus(its.url, log);
      await expect(bus.probe()).rejects.toThrow("does not answer");
      await expect
        .poll(() => log.lines.map(({ error }) => error))
        .toContainEqual(expect.stringContaining("signals can't pass a pooler"));
      await bus.close();
      const listening = new Client({ connectionString: its.url });
      await listening.connect();
      const { rows } = await listening.query("SELECT pg_listening_channels()");
      expect(rows).toEqual([]);
      await listening.end();
      await its.end();
    });

    test("works through a pooler in session mode that lets its settings through", async () => {
      const its = await stage({ ...ignoring, pool_mode: "session" });
      const service = await its.startService({
        DATABASE_POOLER: "none",
        DATABASE_DIRECT_URL: "",
        DATABASE_URL: its.url,
        DATABASE_POOL: "5",
      });
      expect((await service.post("/sales", sale("one"))).status).toBe(201);
      await service.stop();
      await its.end();
    });
  });

  test.each([
    [
      { DATABASE_URL: "sqlite:x.db", DATABASE_POOLER: "transaction" },
      "DATABASE_POOLER is for PostgreSQL",
    ],
    [
      { DATABASE_URL: "sqlite:x.db", DATABASE_DIRECT_URL: "postgres://a/b" },
      "DATABASE_DIRECT_URL is for PostgreSQL",
    ],
    [
      { DATABASE_URL: "sqlite:x.db", DATABASE_REPLICA_URL: "postgres://a/b" },
      "DATABASE_REPLICA_URL is for PostgreSQL",
    ],
    [
      { DATABASE_URL: "postgres://a/b", DATABASE_REPLICA_URL: "postgres://b,c/b" },
      "DATABASE_REPLICA_URL must name one server",
    ],
    [
      {
        DATABASE_URL: "postgres://a/b",
        DATABASE_REPLICA_URL: "postgres://b/b?target_session_attrs=read-write",
      },
      "DATABASE_REPLICA_URL must name one server",
    ],
    [
      { DATABASE_URL: "postgres://a/b", DATABASE_REPLICA_URL: "sqlite:x" },
      "DATABASE_REPLICA_URL must be a postgres:// URL",
    ],
    [
      { DATABASE_URL: "postgres://a/b", DATABASE_POOLER: "statement" },
      "DATABASE_POOLER must be one of none, transaction",
    ],
    [
      { DATABASE_URL: "postgres://a/b", DATABASE_DIRECT_URL: "sqlite:x" },
      "DATABASE_DIRECT_URL must be a postgres:// URL",
    ],
    [
      { DATABASE_URL: "postgres://a/b", DATABASE_POOLER: "transaction", BUS_URL: "none" },
      "DATABASE_DIRECT_URL must be set, or MIGRATE=off",
    ],
    [
      { DATABASE_URL: "postgres://a/b", DATABASE_POOLER: "transaction", MIGRATE: "off" },
      "BUS_URL or DATABASE_DIRECT_URL must be set",
    ],
    [
      { DATABASE_URL: "postgres://a/b", DATABASE_POOLER: "transaction", BUS_URL: "postgres://a/b" },
      "BUS_URL can't be the pooler's",
    ],
    [
      {
        DATABASE_URL: "postgres://a/b?options=-d%201",
        DATABASE_POOLER: "transaction",
        DATABASE_DIRECT_URL: "postgres://a/b",
      },
      "DATABASE_URL has options that can't be read: -d",
    ],
  ])("%j is refused: %s", (environment, fault) => {
    expect(() => readSettings(definition, environment)).toThrow(fault);
  });
});

/** The database, which goes later than the service that uses it. */
function lasting({ url }: FreshDatabase): FreshDatabase {
  return databaseAt(url);
}

async function onUrl(connectionString: string, statement: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
