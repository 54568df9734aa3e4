// Bringing data into a service and out of it: documents a second by `import` and `export`, beside rows a second by hand, as
// a script would insert the same documents into a table of its own, with nothing checked.
import { randomUUID } from "node:crypto";
import { createReadStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { openSqlite } from "../../dist/runtime/engines/sqlite/driver.js";
import { engines, onEngine } from "./engines.mjs";
import { amount, execute, repository, table } from "./tools.mjs";

const size = Number(process.env.BENCH_ROWS ?? amount("300000", "2000"));
const atOnce = 1_000;

export async function run() {
  const rows = [];
  for (const engine of engines)
    rows.push(await onEngine(engine, (url, folder) => moved(engine, url, folder)));
  table(
    ["engine", "documents", "import/s", "of that writing/s", "by hand/s", "again/s", "export/s"],
    rows,
  );
}

async function moved(engine, url, folder) {
  const file = writtenTo(join(folder, "in"));
  const environment = { ...process.env, DATABASE_URL: url, DATA_DIR: folder, LOG_LEVEL: "warn" };
  const seconds = (...args) => {
    const server = join(repository, "dist/service/generated/server.js");
    const said = execute("node", [server, ...args], { env: environment, encoding: "utf8" });
    const [, time] = /(?:imported|exported|checked) in ([\d.]+) s/.exec(said) ?? [];
    return Number(time);
  };
  execute("node", [join(repository, "dist/service/generated/server.js"), "migrate"], {
    env: environment,
  });
  const checking = seconds("import", join(folder, "in"), "--check");
  const first = seconds("import", join(folder, "in"));
  const again = seconds("import", join(folder, "in"));
  const out = seconds("export", join(folder, "out"));
  const byHand = await (engine === "sqlite" ? sqliteByHand : postgresByHand)(url, file);
  const speeds = [first, first - checking, byHand, again, out].map((time) =>
    Math.round(size / time),
  );
  return [engine, size, ...speeds];
}

/** Documents of a type with one index, as files of an import have them. */
function writtenTo(folder) {
  mkdirSync(join(folder, "documents"), { recursive: true });
  const path = join(folder, "documents/notes.jsonl");
  const lines = Array.from({ length: size }, (_, at) => {
    const time = new Date(Date.UTC(2020, 0, 1) + at * 1000).toISOString();
    const text = `Note ${at}, which has a text about as long as notes usually have.`;
    const data = {
      id: randomUUID(),
      rev: 1,
      created_at: time,
      last_update_at: time,
      text,
      pinned: false,
    };
    return JSON.stringify({ owner_id: randomUUID(), data });
  });
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

const columns = `"tenant_id", "id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "body"`;

async function* batchesOf(file) {
  let batch = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { owner_id: owner, data } = JSON.parse(line);
    const { id, rev, created_at: made, last_update_at: changed, ...body } = data;
    batch.push(["default", id, rev, made, changed, owner, JSON.stringify(body)]);
    if (batch.length < atOnce) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function postgresByHand(url, file) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE TABLE "by_hand" (LIKE "notes" INCLUDING ALL)`);
  const started = performance.now();
  for await (const batch of batchesOf(file)) {
    const places = batch.map((_, at) => {
      const [tenant, id, rev, made, changed, owner, body] = Array.from(
        { length: 7 },
        (_, n) => `$${at * 7 + n + 1}`,
      );
      return `(${tenant}, ${id}, ${rev}, ${made}, ${changed}, false, ${owner}, ${body})`;
    });
    await client.query(
      `INSERT INTO "by_hand" (${columns}) VALUES ${places.join(", ")}`,
      batch.flat(),
    );
  }
  const time = (performance.now() - started) / 1000;
  await client.end();
  return time;
}

async function sqliteByHand(url, file) {
  const connection = openSqlite(url.slice("sqlite:".length));
  const [{ sql }] = connection
    .prepare(`SELECT "sql" FROM sqlite_master WHERE "name" = 'notes'`)
    .all([]);
  connection.exec(String(sql).replace("notes", "by_hand"));
  connection.exec(`CREATE INDEX "by_hand_owner" ON "by_hand" ("tenant_id", "owner_id", "id")`);
  const insert = connection.prepare(
    `INSERT INTO "by_hand" (${columns}) VALUES (?, ?, ?, ?, ?, 0, ?, ?)`,
  );
  const started = performance.now();
  for await (const batch of batchesOf(file)) {
    connection.exec("BEGIN");
    for (const row of batch) insert.run(row);
    connection.exec("COMMIT");
  }
  const time = (performance.now() - started) / 1000;
  connection.close();
  return time;
}
