// Lists of files: the first page, and pages after cursors all over the list. Set BENCH_ROWS for other sizes.
import { join } from "node:path";
import pg from "pg";
import { openSqlite } from "../../dist/runtime/engines/sqlite/driver.js";
import * as runtime from "../../dist/runtime/index.js";
import { service } from "../../dist/service/generated/service.js";
import { filesSpec } from "../../dist/service/generated/storage/files.js";
import { engines, onEngine } from "./engines.mjs";
import { amount, median, repository, table } from "./tools.mjs";

const sizes = (process.env.BENCH_ROWS ?? amount("10000,1000000", "1000")).split(",").map(Number);
const pages = amount(200, 10);

export async function run() {
  const rows = [];
  for (const engine of engines)
    for (const size of sizes)
      rows.push(await onEngine(engine, (url, folder) => listed(engine, size, url, folder)));
  table(["engine", "objects", "first page, counted, ms", "page after a cursor, ms"], rows);
}

async function listed(engine, size, url, folder) {
  const settings = runtime.readSettings(service, { DATABASE_URL: url, DATA_DIR: folder });
  const options = { settings, folder: join(repository, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  await (engine === "sqlite" ? fillSqlite : fillPostgres)(url, size);
  const list = async (query) => {
    const started = performance.now();
    const page = await runtime.storage.list(filesSpec)(query, connection.context("bench", "t"));
    const millis = performance.now() - started;
    return { next: runtime.outputValue(page).next_cursor, millis };
  };
  await list({ size: 20 });
  const first = await list({ size: 20 });
  const times = [];
  // Each prefix is somewhere else.
  for (let at = 0; at < pages; at += 1) {
    const prefix = String(Math.floor((at * size) / pages))
      .padStart(7, "0")
      .slice(0, 5);
    const { next } = await list({ size: 1, prefix });
    if (next === null) continue;
    times.push((await list({ size: 20, prefix, after: next })).millis);
  }
  await connection.close();
  return [engine, size, first.millis.toFixed(1), median(times).toFixed(2)];
}

const columns = `"key", "size", "content_type", "etag", "modified_at", "filename", "tags"`;
const values = `1000, 'image/png', 'e', 1700000000000, 'x.png', ''`;

function fillSqlite(url, size) {
  const connection = openSqlite(url.slice("sqlite:".length));
  connection.exec(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${size - 1}) ` +
      `INSERT INTO "opwright_objects" (${columns}) SELECT 'files/t/' || printf('%07d', i), ${values} FROM n`,
  );
  connection.close();
}

async function fillPostgres(url, size) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `INSERT INTO "opwright_objects" (${columns}) ` +
      `SELECT 'files/t/' || lpad(i::text, 7, '0'), ${values} FROM generate_series(0, ${size - 1}) i`,
  );
  await client.query(`VACUUM ANALYZE "opwright_objects"`);
  await client.end();
}
