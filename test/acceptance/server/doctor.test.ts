// `server.js doctor`: one line for each thing that an operator should know, with what to do; 1 if something is wrong.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasPostgresBinaries, startCluster } from "../../faults/postgres-cluster.js";
import { startProxy } from "../../faults/proxy.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { freePort } from "../../support/free-port.js";
import { pooledEnvironment, startPgBouncer, hasPgBouncer } from "../../support/pgbouncer.js";
import { runCommand } from "../../support/process.js";

const data = mkdtempSync(join(tmpdir(), "opwright-doctor-"));
// As a service that was started once leaves it.
mkdirSync(join(data, "objects/objects"), { recursive: true });
afterAll(() => rmSync(data, { recursive: true, force: true }));

/** What the doctor says: lines as [state, what, text], without those that are fine unless asked for. */
async function doctor(environment: Readonly<Record<string, string>>) {
  const { status, stdout, stderr } = await runCommand({ DATA_DIR: data, ...environment }, [
    "doctor",
  ]);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => [line.slice(0, 8).trim(), line.slice(8, 22).trim(), line.slice(22)] as const);
  return { status, stderr, lines, found: lines.filter(([state]) => state !== "ok") };
}

/** What this machine's Node.js, disk and PostgreSQL, and a development's settings are told, wherever it runs. */
const usual = ([_state, what, text]: readonly [string, string, string]): boolean =>
  ["Node.js", "settings", "disk"].includes(what) || /^its role is a|^autovacuum is off/.test(text);

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  let database: FreshDatabase;
  let environment: Readonly<Record<string, string>>;
  beforeAll(async () => {
    database = await engine.create();
    environment = { DATABASE_URL: database.url, ...database.environment };
  });
  afterAll(() => database.drop());

  test("a database that lacks migrations is told what to do, and stays as it is", async () => {
    for (let times = 0; times < 2; times += 1) {
      const { found, status } = await doctor(environment);
      expect(found.filter((line) => !usual(line))).toEqual(
        engine.name === "sqlite"
          ? [
              [
                "notice",
                "database",
                expect.stringMatching(/is not there yet: the service makes it/),
              ],
            ]
          : [["notice", "migrations", expect.stringMatching(/^0001_\S+, .* wait: the service/)]],
      );
      expect(status).toBe(0);
    }
    const off = await doctor({ ...environment, MIGRATE: "off" });
    if (engine.name === "postgres")
      expect([off.status, off.found.at(-1)]).toEqual([
        1,
        ["wrong", "migrations", expect.stringMatching(/MIGRATE is off: run migrate$/)],
      ]);
    expect((await runCommand(environment, ["migrate"])).status).toBe(0);
  });

  test("nothing is wrong with a service that is well", async () => {
    const { lines, found, status, stderr } = await doctor(environment);
    expect([status, stderr, found.filter((line) => !usual(line))]).toEqual([0, "", []]);
    expect(lines.map(([, what]) => what)).toEqual(
      expect.arrayContaining([
        "Node.js",
        "settings",
        engine.name === "sqlite" ? "SQLite" : "PostgreSQL",
        "migrations",
        "database",
        "objects",
        "backlog",
      ]),
    );
  });

  test("nothing is made, also where there is nothing yet", async () => {
    const fresh = join(data, `fresh ${engine.name}`);
    for (const given of [environment, { OBJECTS_URL: `file:${fresh}/files` }, {}]) {
      const { status } = await doctor({ ...environment, ...given, DATA_DIR: fresh });
      expect([status, existsSync(fresh)]).toEqual([0, false]);
    }
    const { found } = await doctor({ DATA_DIR: fresh });
    expect(found.map(([, , text]) => text).join("\n")).toMatch(/is not there yet/);
    expect(existsSync(fresh)).toBe(false);
    mkdirSync(fresh);
    writeFileSync(join(fresh, "service.db"), "");
    const empty = await doctor({ DATA_DIR: fresh });
    expect(empty.found.map(([, , text]) => text).join("\n")).toMatch(/service\.db is empty/);
    expect([readdirSync(fresh), statSync(join(fresh, "service.db")).size]).toEqual([
      ["service.db"],
      0,
    ]);
  });

  test("what settings say wrongly is named, each in a line", async () => {
    const { found, status } = await doctor({ ...environment, PORT: "x", READERS: "0" });
    expect(status).toBe(1);
    expect(found.filter((line) => !usual(line) || line[0] === "wrong")).toEqual([
      ["wrong", "settings", expect.stringContaining("READERS")],
      ["wrong", "settings", expect.stringContaining("PORT")],
    ]);
  });

  test("a bus and a store of objects that are away", async () => {
    const away = await freePort();
    const { found, status } = await doctor({
      ...environment,
      BUS_URL: `redis://127.0.0.1:${away}`,
      OBJECTS_URL: `s3://bucket?endpoint=http://127.0.0.1:${away}`,
      OBJECTS_ACCESS_KEY: "a",
      OBJECTS_SECRET_KEY: "b",
    });
    expect(status).toBe(1);
    expect(found.filter((line) => !usual(line)).map((line) => line.join(" "))).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^wrong bus BUS_URL: .*ECONNREFUSED/),
        expect.stringMatching(/^wrong objects /),
      ]),
    );
  });
});

const postgres = engines.find(({ name }) => name === "postgres");

describe.skipIf(postgres?.isAvailable !== true)("a PostgreSQL server", () => {
  let database: FreshDatabase;
  let admin: Client;
  const of = async (environment: Readonly<Record<string, string>> = {}) => {
    const { found, status } = await doctor({ DATABASE_URL: database.url, ...environment });
    return { status, found: found.filter((line) => !usual(line)) };
  };
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    database = await postgres.create();
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    expect((await runCommand({ DATABASE_URL: database.url }, ["migrate"])).status).toBe(0);
  });
  afterAll(async () => {
    await admin.end();
    await database.drop();
  });

  test("that is away", async () => {
    const url = `postgres://postgres@127.0.0.1:${await freePort()}/none`;
    const { found, status } = await of({ DATABASE_URL: url, BUS_URL: "none" });
    expect([status, found]).toEqual([
      1,
      [["wrong", "database", expect.stringMatching(/DATABASE_URL postgres:.*ECONNREFUSED/)]],
    ]);
  });

  test("that says nothing, which ends, and shows no password", async () => {
    const { hostname, port } = new URL(database.url);
    const proxy = await startProxy(hostname, Number(port || 5432));
    try {
      const url = new URL(proxy.url(database.url));
      url.password = "topsecret";
      const settings = { DATABASE_URL: url.href, BUS_URL: "none" };
      expect(await of(settings)).toEqual({ status: 0, found: [] });
      await proxy.become({ kind: "half-open", dead: "down" });
      const { found, status } = await of(settings);
      expect([status, found.map(([state, what]) => [state, what])]).toEqual([
        1,
        [["wrong", "database"]],
      ]);
      expect(JSON.stringify(found)).not.toContain("topsecret");
    } finally {
      await proxy.close();
    }
  });

  test("with a way around the pooler that leads nowhere", async () => {
    const DATABASE_DIRECT_URL = `postgres://postgres@127.0.0.1:${await freePort()}/none`;
    const { found, status } = await of({ DATABASE_DIRECT_URL, BUS_URL: "none" });
    expect([status, found]).toEqual([
      1,
      [["wrong", "direct URL", expect.stringMatching(/^DATABASE_DIRECT_URL: .*ECONNREFUSED/)]],
    ]);
  });

  test("with a schema of an odd name, and an index that is being built beside", async () => {
    await admin.query(`CREATE SCHEMA "Odd sch"`);
    const DATABASE_URL = `${database.url}?options=-c%20search_path%3D%22Odd%5C%20sch%22`;
    expect((await runCommand({ DATABASE_URL }, ["migrate"])).stderr).toBe("");
    const holder = new Client({ connectionString: database.url });
    const builder = new Client({ connectionString: database.url });
    await Promise.all([holder.connect(), builder.connect()]);
    await holder.query(`BEGIN; LOCK TABLE "Odd sch"."tasks" IN ROW EXCLUSIVE MODE`);
    const building = builder.query(
      `CREATE INDEX CONCURRENTLY "at ""ci" ON "Odd sch"."tasks" ("id")`,
    );
    try {
      const begun = async (): Promise<number | null> =>
        (await admin.query("SELECT 1 FROM pg_stat_progress_create_index")).rowCount;
      await expect.poll(begun).toBeGreaterThan(0);
      expect(await of({ DATABASE_URL })).toEqual({ status: 0, found: [] });
    } finally {
      await holder.query("COMMIT");
      await building;
      await Promise.all([holder.end(), builder.end()]);
    }
  });

  test("whose role may not change rows", async () => {
    const role = `doctor_${process.pid}`;
    await admin.query(`CREATE ROLE ${role} LOGIN`);
    await admin.query(`GRANT USAGE ON SCHEMA public TO ${role}`);
    await admin.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    await admin.query(`REVOKE DELETE ON "tasks" FROM ${role}`);
    try {
      const url = new URL(database.url);
      url.username = role;
      expect(await of({ DATABASE_URL: url.href })).toEqual({
        status: 0,
        found: [["notice", "rights", expect.stringMatching(/may not UPDATE and DELETE in tasks:/)]],
      });
    } finally {
      await admin.query(`DROP OWNED BY ${role}`);
      await admin.query(`DROP ROLE ${role}`);
    }
  });

  test("with an index that was left half built", async () => {
    const { rows } = await admin.query(
      "SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class c ON c.oid = indrelid WHERE c.relname = 'tasks' AND NOT indisprimary LIMIT 1",
    );
    const mark = (isValid: boolean): Promise<unknown> =>
      admin.query(
        `UPDATE pg_index SET indisvalid = ${isValid} WHERE indexrelid = '${rows[0].name}'::regclass`,
      );
    await mark(false);
    const { found, status } = await of();
    await mark(true);
    expect([status, found]).toEqual([
      1,
      [
        [
          "wrong",
          "indexes",
          expect.stringContaining(`of tasks was left half built: REINDEX INDEX`),
        ],
      ],
    ]);
  });

  test("that grants fewer connections than a process takes", async () => {
    const name = new URL(database.url).pathname.slice(1);
    await admin.query(`ALTER DATABASE "${name}" CONNECTION LIMIT 8`);
    const { found, status } = await of();
    await admin.query(`ALTER DATABASE "${name}" CONNECTION LIMIT -1`);
    expect([status, found]).toEqual([
      1,
      [["wrong", "connections", expect.stringMatching(/^the server grants 8, .* takes 12: lower/)]],
    ]);
  });

  test("with a table of dead rows, and one that is read whole again and again", async () => {
    await admin.query(`ALTER TABLE "tasks" SET (autovacuum_enabled = false)`);
    await admin.query(`CREATE TABLE "wide" AS SELECT n FROM generate_series(1, 30000) AS n`);
    await admin.query(`ALTER TABLE "wide" SET (autovacuum_enabled = false)`);
    for (let times = 0; times < 120; times += 1) await admin.query(`SELECT max(n) FROM "wide"`);
    await admin.query(`DELETE FROM "wide" WHERE n > 12000`);
    // Statistics of a session arrive when it ends, or has been idle for a while.
    await admin.query("SELECT pg_stat_force_next_flush()").catch(() => undefined);
    const lines = async (): Promise<readonly string[]> =>
      (await of()).found.map(([state, what, text]) => `${state} ${what} ${text}`);
    await expect
      .poll(lines, { timeout: 30_000, interval: 500 })
      .toEqual([
        expect.stringMatching(/^notice bloat wide has 18000 dead rows: VACUUM/),
        expect.stringMatching(/^notice indexes wide was read whole 12\d times/),
      ]);
    await admin.query(`DROP TABLE "wide"`);
  });

  test.skipIf(!hasPgBouncer)("behind a pooler that nobody has told of", async () => {
    const pooler = await startPgBouncer(database.url);
    try {
      const { found, status } = await of({ DATABASE_URL: pooler.url(database.url) });
      expect([status, found]).toEqual([
        1,
        [["wrong", "database", expect.stringContaining("set DATABASE_POOLER=transaction")]],
      ]);
      const told = pooledEnvironment(pooler.url(database.url), database.url);
      expect(await of(told)).toEqual({ status: 0, found: [] });
    } finally {
      await pooler.stop();
    }
  });

  test.skipIf(!hasPostgresBinaries)(
    "whose settings lose writes, and whose clock is right",
    async () => {
      const cluster = await startCluster();
      try {
        expect((await runCommand({ DATABASE_URL: cluster.url }, ["migrate"])).status).toBe(0);
        await cluster.sql("ALTER SYSTEM SET fsync = off");
        await cluster.sql("ALTER SYSTEM SET autovacuum = off");
        await cluster.sql("SELECT pg_reload_conf()");
        const { found, status } = await of({ DATABASE_URL: cluster.url });
        expect([status, found]).toEqual([
          1,
          [["wrong", "PostgreSQL", expect.stringMatching(/^fsync is off: a crash loses/)]],
        ]);
        const { found: all } = await doctor({ DATABASE_URL: cluster.url });
        expect(all.map((line) => line.join(" "))).toContain(
          "notice PostgreSQL autovacuum is off: tables grow without end: set it on",
        );
      } finally {
        await cluster.remove();
      }
    },
  );
});

test("a SQLite database that is being restored", async () => {
  const folder = join(data, "restoring");
  mkdirSync(join(folder, "service.db.restoring"), { recursive: true });
  const { found, status } = await doctor({ DATA_DIR: folder });
  expect(status).toBe(1);
  expect(found.filter((line) => !usual(line))).toEqual([
    ["wrong", "database", expect.stringMatching(/a restore is under way, or ended early/)],
  ]);
});

test("a folder of data that is none", async () => {
  const file = join(data, "file");
  writeFileSync(file, "");
  const { found, status, stderr } = await doctor({ DATA_DIR: file });
  expect([status, stderr]).toEqual([1, ""]);
  expect(found.filter(([state]) => state === "wrong")).not.toEqual([]);
});

test("a SQLite database that isn't whole", async () => {
  const path = join(data, "broken.db");
  writeFileSync(path, "no database at all".repeat(100));
  const { found, status } = await doctor({ DATABASE_URL: `sqlite:${path}` });
  expect(status).toBe(1);
  expect(found.filter((line) => !usual(line))).toEqual([
    ["wrong", "database", expect.stringMatching(/file is not a database/)],
  ]);
});
