// Reading rows of the current shape beside rows of an older one, which are brought up as they are read: alone, and in pages.
import { join } from "node:path";
import * as runtime from "../../dist/runtime/index.js";
import { documentStore } from "../../dist/runtime/ports/documents.js";
import { placesSpec } from "../../dist/service/generated/documents/places.js";
import { service } from "../../dist/service/generated/service.js";
import { engines, onEngine } from "./engines.mjs";
import { amount, parsed, repository, table, together } from "./tools.mjs";

/** Documents of each kind, and those of a page. */
const count = amount(2_000, 200);
const page = 100;

export async function run() {
  const rows = [];
  for (const engine of engines)
    await onEngine(engine, async (database, folder) => {
      for (const row of await compare(database, folder)) rows.push([engine, ...row]);
    });
  table(["engine", "read", "current, ms", "older, ms", "ratio"], rows);
}

async function compare(database, folder) {
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
    const request = parsed(runtime.listing.cursor(placesSpec), body);
    const list = runtime.documents.listCursor(next);
    return () => list(request, context);
  };
  const rows = [];
  for (const { bytes, letter } of [
    { bytes: 100, letter: "S" },
    { bytes: 4_000, letter: "L" },
  ]) {
    const ids = { current: [], older: [] };
    const shared = { name: "n".repeat(bytes), lat: 1.5, lng: 2.5 };
    const bodies = {
      current: (country) => ({ ...shared, country, ...adds }),
      older: (country) => ({ ...shared, country, admin1: "01" }),
    };
    await connection.write("bench.places", async ({ transaction }) => {
      const store = transaction.of(documentStore);
      for (const [kind, spec] of Object.entries({ current: next, older: earlier }))
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
    for (const [read, [current, older]] of Object.entries(reads)) {
      const [fast, slow] = await together(current, older);
      rows.push([read, fast.toFixed(3), slow.toFixed(3), (slow / fast).toFixed(2)]);
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
