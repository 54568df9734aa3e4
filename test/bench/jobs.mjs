// Jobs that do nothing, beside pg-boss and graphile-worker on the same PostgreSQL: how many are done a second, ten at once;
// and how soon a job begins beside a backlog of another tenant.
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import {
  defineJobs,
  joinHandlers,
  makeEnqueue,
  readSettings,
  silentLog,
  start,
} from "../../dist/runtime/index.js";
import { jobStore } from "../../dist/runtime/ports/jobs.js";
import { uuidv7 } from "../../dist/runtime/ports/uuid.js";
import { service } from "../../dist/service/generated/service.js";
import { engines, onEngine } from "./engines.mjs";
import { amount, installedPeers, median, repository, table } from "./tools.mjs";

const count = Number(process.env.BENCH_JOBS ?? amount(20_000, 500));
const backlog = Number(process.env.BENCH_BACKLOG ?? amount(1_000_000, 2_000));
const probes = amount(400, 20);
const rounds = amount(3, 1);
const atOnce = 10;

export async function run() {
  const peers = createRequire(join(installedPeers("jobs"), "package.json"));
  const contenders = {
    "pg-boss": () => onEngine("postgres", (url) => drainPgBoss(peers("pg-boss"), url)),
    "graphile-worker": () =>
      onEngine("postgres", (url) => drainGraphile(peers("graphile-worker"), url)),
    "opwright on PostgreSQL": () => onEngine("postgres", drainOpwright),
    "opwright on SQLite": () => onEngine("sqlite", drainOpwright),
  };
  const rates = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  // They take turns, so that what else the machine does slows all of them.
  for (let round = 0; round < rounds; round += 1)
    for (const [name, drain] of Object.entries(contenders)) rates[name].push(await drain());
  const peer = median(rates["pg-boss"]);
  const other = median(rates["graphile-worker"]);
  table(
    [`${count} jobs, ${atOnce} at once`, "jobs/s", "of pg-boss", "of graphile-worker"],
    Object.entries(rates).map(([name, all]) => [
      name,
      Math.round(median(all)),
      (median(all) / peer).toFixed(2),
      (median(all) / other).toFixed(2),
    ]),
  );
  const rows = [];
  for (const engine of engines) rows.push([engine, ...(await onEngine(engine, measureStart))]);
  table([`${backlog} jobs of another tenant wait`, "median", "p99", "longest"], rows);
}

/** Jobs a second between the first that begins and the last. */
function counter(wanted) {
  let first;
  let done = 0;
  let end;
  const all = new Promise((resolve) => (end = resolve));
  return {
    all,
    tick() {
      first ??= performance.now();
      done += 1;
      if (done === wanted) end(((wanted - 1) / (performance.now() - first)) * 1_000);
    },
  };
}

const runOf = (tenant, job, at) => ({
  id: uuidv7(),
  tenant,
  job,
  input: "{}",
  shape: "",
  as: { kind: "service" },
  rank: 0,
  key: null,
  dueAt: null,
  createdAt: at,
  maxAttempts: 1,
});

/** The reference service with jobs of the bench alone; `handlers` are theirs. */
async function startOpwright(database, folder, handlers) {
  const names = Object.keys(handlers);
  const declaration = {
    input: (data) => data,
    attempts: 1,
    timeoutSeconds: 60,
    as: /** @type {const} */ ("service"),
  };
  const declarations = defineJobs({
    jobs: Object.fromEntries(names.map((name) => [name, declaration])),
  });
  const definition = { ...service, jobs: joinHandlers(declarations, handlers) };
  const environment = {
    DATABASE_URL: database,
    DATA_DIR: folder,
    PORT: "0",
    BUS_URL: "none",
    JOBS_AT_ONCE: String(atOnce),
  };
  const running = await start(definition, {
    settings: readSettings(definition, environment),
    folder: join(repository, "generated"),
    log: silentLog,
  });
  return { running, enqueue: makeEnqueue(declarations) };
}

async function fill({ write }, tenant, job, wanted) {
  const page = 10_000;
  for (let left = wanted; left > 0; left -= page)
    await write("bench.fill", ({ transaction }) => {
      const runs = Array.from({ length: Math.min(page, left) }, () =>
        runOf(tenant, job, Date.now()),
      );
      return transaction.of(jobStore).addAll(runs);
    });
}

async function drainOpwright(database, folder) {
  const { all, tick } = counter(count);
  const { running } = await startOpwright(database, folder, { "bench.none": async () => tick() });
  try {
    await running.connection.write("bench.pause", ({ transaction }) =>
      transaction.of(jobStore).pause("bench.none", Date.now()),
    );
    await fill(running.connection, "bench", "bench.none", count);
    await running.connection.write("bench.resume", ({ transaction }) =>
      transaction.of(jobStore).pause("bench.none", null),
    );
    running.connection.wake(jobStore);
    return await all;
  } finally {
    await running.stop();
  }
}

/** Milliseconds from the commit that enqueues a job to its beginning. */
async function measureStart(database, folder) {
  const begun = new Map();
  const handlers = {
    "bench.none": async () => undefined,
    "probe.one": async ({ number }) => begun.get(number)?.(performance.now()),
  };
  const { running, enqueue } = await startOpwright(database, folder, handlers);
  const { connection } = running;
  try {
    await connection.write("bench.pause", ({ transaction }) =>
      transaction.of(jobStore).pause("bench.none", Date.now()),
    );
    await fill(connection, "crowded", "bench.none", backlog);
    await connection.write("bench.resume", ({ transaction }) =>
      transaction.of(jobStore).pause("bench.none", null),
    );
    connection.wake(jobStore);
    await sleep(1_000);
    const waits = [];
    for (let number = 0; number < probes; number += 1) {
      const beginning = new Promise((resolve) => begun.set(number, resolve));
      await connection.write(
        "bench.probe",
        (context) => enqueue(context, "probe.one", { number }),
        "quiet",
      );
      const committed = performance.now();
      waits.push(Math.max(0, (await beginning) - committed));
      await sleep(10);
    }
    waits.sort((one, other) => one - other);
    const at = (share) =>
      `${waits[Math.min(waits.length - 1, Math.floor(waits.length * share))].toFixed(1)} ms`;
    return [at(0.5), at(0.99), at(1)];
  } finally {
    await running.stop();
  }
}

/**
 * A loop that fetches ten jobs and completes them: its own `work` waits half a second between two fetches at least, and ten
 * loops of one job each do a tenth of this.
 */
async function drainPgBoss(PgBoss, connectionString) {
  const boss = new PgBoss({ connectionString, max: atOnce, supervise: false, schedule: false });
  boss.on("error", () => undefined);
  await boss.start();
  await boss.createQueue("none");
  for (let left = count; left > 0; left -= 1_000)
    await boss.insert(
      Array.from({ length: Math.min(1_000, left) }, () => ({ name: "none", data: {} })),
    );
  const { all, tick } = counter(count);
  for (;;) {
    const jobs = await boss.fetch("none", { batchSize: atOnce });
    if (jobs.length === 0) break;
    for (const _job of jobs) tick();
    await boss.complete(
      "none",
      jobs.map(({ id }) => id),
    );
  }
  await boss.stop({ graceful: false, wait: true });
  return all;
}

async function drainGraphile({ run: runWorker, runMigrations, Logger }, connectionString) {
  const logger = new Logger(() => () => undefined);
  await runMigrations({ connectionString, logger });
  const pool = new pg.Pool({ connectionString, max: atOnce });
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  for (let left = count; left > 0; left -= 1_000)
    await pool.query(
      `SELECT graphile_worker.add_job('none', json_build_object('n', n)) FROM generate_series(1, $1) n`,
      [Math.min(1_000, left)],
    );
  const { all, tick } = counter(count);
  const runner = await runWorker({
    pgPool: pool,
    logger,
    concurrency: atOnce,
    noHandleSignals: true,
    taskList: { none: async () => tick() },
  });
  const rate = await all;
  await runner.stop();
  await pool.end();
  return rate;
}
