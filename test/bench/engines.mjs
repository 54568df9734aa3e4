// A fresh database of each engine for a bench: a file, or a database of the PostgreSQL at BENCH_POSTGRES.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

export const engines = ["sqlite", "postgres"];
const server = new URL(process.env.BENCH_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres");
let databases = 0;

/** Does work with the URL of a fresh database and with a folder for data, and removes both; returns what the work does. */
export async function onEngine(engine, work) {
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  try {
    if (engine === "sqlite") return await work(`sqlite:${join(folder, "bench.db")}`, folder);
    return await onPostgres((url) => work(url, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(work) {
  const admin = new pg.Client({ connectionString: server.href });
  await admin.connect().catch((cause) => {
    throw new Error(`no PostgreSQL answers at ${server.host}: set BENCH_POSTGRES`, { cause });
  });
  const name = `opwright_bench_${process.pid}_${(databases += 1)}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  try {
    return await work(url.href);
  } finally {
    await left(admin, name);
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  }
}

/** Resolves once nobody uses a database any more, or after 5 s: a pool is at its end before its connections are. */
async function left(admin, name) {
  const text = `SELECT count(*)::int AS "users" FROM pg_stat_activity WHERE datname = $1`;
  const users = async () => (await admin.query(text, [name])).rows[0].users;
  for (let turn = 0; turn < 100 && (await users()) > 0; turn += 1) await sleep(50);
}
