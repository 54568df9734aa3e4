// Reading rows of the current shape beside rows of an older one, which are brought up as they are read: alone, and in pages.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { repository, table, together } from "./tools.mjs";

const server = process.env.BENCH_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres";
const load = (path) => import(pathToFileURL(join(repository, path)).href);
/** Documents of each kind, and those of a page. */
const count = 2_000;
const page = 100;

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
    table(["engine", "read", "current, ms", "older, ms", "ratio"], rows);
  } finally {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(database, folder) {
  const runtime = await load("dist/runtime/index.js");
  const { documentStore } = await load("dist/runtime/ports/documents.js");
  const { service } = await load("dist/service/generated/service.js");
  const { placesSpec } = await load("dist/service/generated/documents/places.js");
  const settings = runtime.readSettings(service, { DATABASE_URL: database, DATA_DIR: folder });
  const options = { settings, folder: join(repository, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  // The version that follows: two members more, one less.
  const { shape } = placesSpec;
  const adds = { tags: [], size: 7 };
  const members = [...shape.members.filter((member) => member !== "admin1"), ...Object.keys(adds)];
  const next = {
    ...placesSpec,
    searches: [],
    shape: { members, steps: [{ adds, drops: ["admin1"] }] },
  };
  const earlier = { ...placesSpec, searches: [] };
  const context = connection.context("places.list");
  const get = runtime.documents.get(next);
  const listed = (size, country) => {
    const body = { filters: { $values: { country } }, size };
    const request = runtime.listing.cursor(placesSpec).body.check.parse(body);
    const list = runtime.documents.listCursor(next);
    return () => list(request, context);
  };
  const rows = [];
  for (const [bytes, letter] of [
    [100, "S"],
    [4_000, "L"],
  ]) {
    const ids = { current: [], older: [] };
    const shared = { name: "n".repeat(bytes), lat: 1.5, lng: 2.5 };
    const bodies = {
      current: (country) => ({ ...shared, country, ...adds }),
      older: (country) => ({ ...shared, country, admin1: "01" }),
    };
    await connection.write("bench.places", async ({ transaction }) => {
      const store = transaction.of(documentStore);
      for (const [kind, spec] of [
        ["current", next],
        ["older", earlier],
      ])
        for (let at = 0; at < count; at += 1) {
          const id = runtime.uuidv7();
          ids[kind].push(id);
          await store.insert(
            spec,
            "",
            stored(id, bodies[kind](letter + (kind === "older" ? "O" : "C"))),
          );
        }
    });
    const one = (kind) => {
      let at = 0;
      return () => get({ id: ids[kind][(at += 1) % count] }, context);
    };
    const reads = {
      [`one of ${bytes} bytes`]: [one("current"), one("older")],
      [`${page} of ${bytes} bytes`]: [listed(page, `${letter}C`), listed(page, `${letter}O`)],
    };
    const engine = database.startsWith("sqlite:") ? "sqlite" : "postgres";
    for (const [read, [current, older]] of Object.entries(reads)) {
      const [fast, slow] = await together(current, older);
      rows.push([engine, read, fast.toFixed(3), slow.toFixed(3), (slow / fast).toFixed(2)]);
    }
  }
  await connection.close();
  return rows;
}

function stored(id, body) {
  const time = "2026-01-01T00:00:00.000Z";
  return {
    id,
    rev: 1,
    createdAt: time,
    lastUpdateAt: time,
    isDeleted: false,
    ownerId: null,
    body: JSON.stringify(body),
  };
}
