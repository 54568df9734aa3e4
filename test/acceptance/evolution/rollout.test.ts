// A rollout on a large table: the version before goes on under load while the next one migrates, joins, and takes its place.
// Nobody's request fails, each answer is what its version's document says, and nobody waits a second for a lock.
// OPWRIGHT_TEST_ROLLOUT_ROWS says how many rows there are (`npm run test:long`: a million).
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { freePort } from "../../support/free-port.js";
import { OpenApiDocument } from "../../property/document/open-api.js";
import { fill } from "../../support/many-rows.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { startProxy, type RollingProxy } from "../../support/rolling-proxy.js";
import { faultOf, startLoad, type Load } from "../../support/rollout-load.js";
import { versionOf, type Version, type VersionProcess } from "../../support/version-process.js";

const rows = Number(process.env["OPWRIGHT_TEST_ROLLOUT_ROWS"] ?? 20_000);
const postgres = engines.find(({ name }) => name === "postgres");

const registry = (documents: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
${documents}`,
});
const first = registry(`  tasks:
    guard: open
    type: {title: string, state: [open, doing, done], legacy: string}
    defaults: {state: open, legacy: old}
    indexes: [[state]]
`);
const second = registry(`  tasks:
    guard: open
    type: {title: string, state: [open, doing, done], priority: [low, high], owner: uuid?}
    defaults: {state: open, priority: low}
    indexes: [[state], [priority]]
  labels: {guard: open, type: {name: string}}
`);

/** Members that callers write: those who know both versions, and those of one. */
const members = {
  both: [{}, { state: "doing" }],
  "1": [{ legacy: "mine" }, { state: "done" }],
  "2": [{ priority: "high" }, { owner: "01890000-0000-7000-8000-000000000001" }],
} as const;

/** The lock that a process holds while it migrates. */
const migrationLock = 7_270_164;

const idOf = (at: number): string =>
  `00000000-0000-7000-8000-${(1 + (at % rows)).toString(16).padStart(12, "0")}`;

describe.skipIf(postgres?.isAvailable !== true)(`a rollout over ${rows} rows`, () => {
  let projects: readonly [TestProject, TestProject];
  let versions: readonly [Version, Version];
  beforeAll(async () => {
    const before = await testProject(first);
    projects = [before, await testProject(second, before)];
    versions = [await versionOf(projects[0]), await versionOf(projects[1])];
  });
  afterAll(() => projects.forEach((project) => project.remove()));

  /** A database with the rows of the first version, where no caller's session waits a second for a lock. */
  const prepared = async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    const { url, drop } = await postgres.create();
    const environment = { DATABASE_URL: url, LOG_LEVEL: "warn", SETTLE_SECONDS: "1" };
    expect(versions[0].run(environment, "migrate").code).toBe(0);
    const state = `(ARRAY['open','doing','done'])[1 + i % 3]`;
    await fill(postgres, url, {
      table: "tasks",
      count: rows,
      body: `jsonb_build_object('title', 'task ' || i, 'state', ${state}, 'legacy', 'kept')`,
      tenant: "default",
    });
    const client = new Client({ connectionString: url });
    await client.connect();
    ends.push(async () => {
      await client.end();
      await drop();
    });
    await client.query("VACUUM ANALYZE tasks");
    await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET lock_timeout = '1s'`);
    return { url, environment, client };
  };
  type Prepared = Awaited<ReturnType<typeof prepared>>;

  /** A process that takes its share of what comes to the proxy. */
  const joined = async (
    { environment }: Prepared,
    proxy: RollingProxy,
    version: "1" | "2",
  ): Promise<VersionProcess> => {
    const port = await freePort();
    const started = spawned(versions[version === "1" ? 0 : 1], {
      ...environment,
      PORT: String(port),
    });
    await Promise.race([
      proxy.add({ version, port }),
      started.exited.then((code) => {
        throw new Error(`version ${version} ended with ${code}: ${started.output()}`);
      }),
    ]);
    return started;
  };

  /** Two processes of the first version under load; what `migrates` before the next version joins; then the first goes. */
  const rollOut = async (
    migrates: (given: Prepared, load: Load) => Promise<void>,
    finishes: (given: Prepared) => Promise<void>,
  ): Promise<void> => {
    const given = await prepared();
    const proxy = await startProxy();
    ends.push(() => proxy.close());
    const documents = { "1": projects[0].openapi, "2": projects[1].openapi };
    const load = startLoad(proxy.port, documents, idOf);
    ends.push(() => load.stop());
    const older = [await joined(given, proxy, "1"), await joined(given, proxy, "1")];
    load.add({ members: members.both });
    load.add({ version: "1", members: members["1"] });
    await load.more("1", 100);
    await migrates(given, load);
    const newer = await Promise.all([joined(given, proxy, "2"), joined(given, proxy, "2")]);
    load.add({ version: "2", members: members["2"] });
    await Promise.all([load.more("1", 200), load.more("2", 200)]);
    await load.end("1");
    for (const process of older) await stopped(process);
    await finishes(given);
    await load.more("2", 100);
    await load.stop();
    expect([load.failures.length, load.failures.slice(0, 5)]).toEqual([0, []]);
    await isBroughtUp(given);
    await Promise.all(newer.map(stopped));
  };

  const stopped = async (process: VersionProcess): Promise<void> => {
    process.child.kill("SIGTERM");
    expect([await process.exited, process.output()]).toEqual([0, ""]);
  };

  /** What a test has started, also where it did not come to its end. */
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  const spawned = (
    version: Version,
    environment: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ): VersionProcess => {
    const process = version.spawn(environment, ...args);
    ends.push(() => process.child.kill("SIGKILL"));
    return process;
  };

  /** Each row is of the last shape, and each index is whole. */
  const isBroughtUp = async ({ client }: Prepared): Promise<void> => {
    const older = await client.query(
      `SELECT count(*)::int AS count FROM tasks WHERE shape <> 2 OR body ? 'legacy' OR NOT body ?& ARRAY['title', 'state', 'priority', 'owner']`,
    );
    expect(older.rows).toEqual([{ count: 0 }]);
    const { rows: indexes } = await client.query(
      `SELECT indexrelid::regclass::text AS name, indisvalid FROM pg_index WHERE indrelid = 'tasks'::regclass ORDER BY 1`,
    );
    expect(indexes).toEqual(
      ["tasks_by_priority", "tasks_by_state", "tasks_pkey"].map((name) => ({
        name,
        indisvalid: true,
      })),
    );
  };

  const migrated = async ({ environment }: Prepared, ...args: readonly string[]): Promise<void> => {
    const process = spawned(versions[1], environment, "migrate", ...args);
    expect([await process.exited, process.output()]).toEqual([0, expect.any(String)]);
  };

  const limit = 120_000 + rows / 2;

  test("the comparison of answers with documents tells versions apart", () => {
    const base = { id: idOf(0), rev: 1, created_at: "2026-01-01T00:00:00.000Z" };
    const task = { ...base, last_update_at: base.created_at, title: "a", state: "open" };
    const text = JSON.stringify({ ...task, legacy: "old" });
    const faults = projects.map(({ openapi }) =>
      faultOf(new OpenApiDocument(openapi), "tasks.get", { status: 200, text }),
    );
    expect(faults).toEqual([undefined, "is off contract"]);
  });

  test(
    "processes of the next version migrate as they start, two at once",
    () =>
      rollOut(
        async () => undefined,
        (given) => migrated(given, "--wait"),
      ),
    limit,
  );

  test(
    "the process that migrates is killed three times",
    () =>
      rollOut(
        async (given, load) => {
          // An index that is made or dropped waits for whoever may write to the table, as long as they may.
          const holder = new Client({ connectionString: given.url });
          await holder.connect();
          ends.push(() => holder.end());
          await holder.query("BEGIN");
          await holder.query("LOCK tasks IN ROW EXCLUSIVE MODE");
          for (let killed = 0; killed < 2; killed += 1) {
            const process = spawned(versions[1], given.environment, "migrate");
            await expect.poll(() => indexesThatWait(given)).toBe(1);
            process.child.kill("SIGKILL");
            expect(await process.exited).toBe("SIGKILL");
            await expect.poll(() => indexesThatWait(given)).toBe(0);
            await expect.poll(() => migrating(given)).toBe(0);
            await load.more("1", 20);
          }
          await holder.query("COMMIT");
          await migrated(given);
        },
        async (given) => {
          const process = spawned(versions[1], given.environment, "migrate", "--wait");
          await process.says(/tasks …/);
          process.child.kill("SIGKILL");
          expect(await process.exited).toBe("SIGKILL");
          await migrated(given, "--wait");
        },
      ),
    limit,
  );

  const counted = async ({ client }: Prepared, query: string): Promise<number> =>
    (await client.query(`SELECT count(*)::int AS count FROM ${query}`)).rows[0].count;
  const indexesThatWait = (given: Prepared): Promise<number> =>
    counted(
      given,
      `pg_stat_activity WHERE datname = current_database() AND wait_event = 'virtualxid' AND query LIKE '%INDEX CONCURRENTLY%'`,
    );
  const migrating = (given: Prepared): Promise<number> =>
    counted(
      given,
      `pg_locks WHERE locktype = 'advisory' AND objid = ${migrationLock} AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
});
