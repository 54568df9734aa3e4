// Lists of files: the first page, and pages after cursors all over the list. Set BENCH_ROWS for other sizes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { median, repository, table } from "./tools.mjs";

const server = process.env.BENCH_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres";
const sizes = (process.env.BENCH_ROWS ?? "10000,1000000").split(",").map(Number);
const load = (path) => import(pathToFileURL(join(repository, path)).href);
const pages = 200;

export async function run() {
  const rows = [];
  for (const engine of ["sqlite", "postgres"])
    for (const size of sizes) rows.push(await listed(engine, size));
  table(["engine", "objects", "first page, counted, ms", "page after a cursor, ms"], rows);
}

async function listed(engine, size) {
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const database = await databaseOf(engine, folder);
  const runtime = await load("dist/runtime/index.js");
  const { service } = await load("dist/service/generated/service.js");
  const { filesSpec } = await load("dist/service/generated/storage/files.js");
  const settings = runtime.readSettings(service, { DATABASE_URL: database.url, DATA_DIR: folder });
  const options = { settings, folder: join(repository, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  await database.fill(size);
  const list = async (query) => {
    const started = performance.now();
    const page = await runtime.storage.list(filesSpec)(query, connection.context("bench", "t"));
    return { page, millis: performance.now() - started };
  };
  await list({ size: 20 });
  const first = await list({ size: 20 });
  const times = [];
  // Each prefix is somewhere else.
  for (let at = 0; at < pages; at += 1) {
    const prefix = String(Math.floor((at * size) / pages))
      .padStart(7, "0")
      .slice(0, 5);
    const { page } = await list({ size: 1, prefix });
    if (page.next_cursor === null) continue;
    times.push((await list({ size: 20, prefix, after: page.next_cursor })).millis);
  }
  await connection.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
  return [engine, size, first.millis.toFixed(1), median(times).toFixed(2)];
}

const columns = `"key", "size", "content_type", "etag", "modified_at", "filename", "tags"`;
const values = `1000, 'image/png', 'e', 1700000000000, 'x.png', ''`;

async function databaseOf(engine, folder) {
  if (engine === "sqlite") {
    const { openSqlite } = await load("dist/runtime/engines/sqlite/driver.js");
    const path = join(folder, "objects.db");
    return {
      url: `sqlite:${path}`,
      async fill(size) {
        const connection = openSqlite(path);
        connection.exec(
          `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${size - 1}) ` +
            `INSERT INTO "opwright_objects" (${columns}) SELECT 'files/t/' || printf('%07d', i), ${values} FROM n`,
        );
        connection.close();
      },
      drop: async () => undefined,
    };
  }
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const name = `opwright_bench_${process.pid}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async fill(size) {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      await client.query(
        `INSERT INTO "opwright_objects" (${columns}) ` +
          `SELECT 'files/t/' || lpad(i::text, 7, '0'), ${values} FROM generate_series(0, ${size - 1}) i`,
      );
      await client.query(`VACUUM ANALYZE "opwright_objects"`);
      await client.end();
    },
    async drop() {
      await admin.query(`DROP DATABASE ${name}`);
      await admin.end();
    },
  };
}
