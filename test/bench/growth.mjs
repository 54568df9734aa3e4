// What grows with what is stored: milliseconds of the same requests while documents become more by tens, and while one
// mailbox and one storage do. Beside a page without a count: the SQL that it is, by hand.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import pg from "pg";
import { openSqlite } from "../../dist/runtime/engines/sqlite/driver.js";
import * as runtime from "../../dist/runtime/index.js";
import { mailboxStore } from "../../dist/runtime/ports/mailbox.js";
import { engines, onEngine } from "./engines.mjs";
import {
  amount,
  bin,
  compile,
  execute,
  freePort,
  median,
  parsed,
  project,
  serve,
  table,
} from "./tools.mjs";

const most = Number(process.env.BENCH_ROWS ?? amount(1_000_000, 10_000));
const rounds = amount(60, 3);
/** What takes long is repeated less often. */
const longestMillis = amount(10_000, 1_000);
/** Objects and signals become no more than so many. */
const mostOthers = Math.min(most, 1_000_000);
/** Documents that share the value of the index. */
const alike = 100;
const kindOf = (index) => Math.floor(index / alike);

const registry = {
  "registry/service.yaml": `registry: 1
service: {name: bench, title: Bench, version: 1.0.0}
identity: {methods: [token]}
policies: {open: []}
documents:
  notes: {type: {text: string, kind: integer, rank: integer}, indexes: [[kind]], guard: open, tenant: false}
storage:
  files: {guard: open}
realtime:
  mount: {at: /realtime}
  transports: [sse]
  events: {note.told: {data: {text: string}, audience: [principal], delivery: durable}}
`,
};

export async function run() {
  const sizes = [];
  for (let size = Math.min(1_000, most); size <= most; size *= 10) sizes.push(size);
  const { root, remove } = project(registry);
  execute(process.execPath, [bin, "generate"], { cwd: root });
  compile(root);
  const rows = [];
  for (const engine of engines)
    rows.push(
      ...(await onEngine(engine, (url, folder) => grown(engine, url, folder, root, sizes))),
    );
  const heads = sizes.map((size) => `${size.toLocaleString("en").replaceAll(",", " ")}, ms`);
  table(["engine", "request", ...heads, "growth"], rows);
  process.stdout.write(`\nMedians of ${rounds} requests, one at a time.\n`);
  remove();
}

async function grown(engine, url, folder, root, sizes) {
  const { service } = await import(`${root}/dist/generated/service.js`);
  const { notesSpec } = await import(`${root}/dist/generated/documents/notes.js`);
  const settings = runtime.readSettings(service, { DATABASE_URL: url, DATA_DIR: folder });
  const options = { settings, folder: join(root, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  const hand = await byHand(engine, url);
  const measured = new Map();
  const note = (request, millis) =>
    measured.set(request, [...(measured.get(request) ?? []), millis]);
  const bytes = [];
  let stored = 0;
  const mailbox = { tenant: "default", principalId: randomUUID() };
  let signals = 0;
  let objects = 0;
  for (const size of sizes) {
    await importNotes(root, url, folder, stored, size);
    stored = size;
    await hand.settle();
    const within = connection.context("bench.known");
    const [{ id: known }] = await runtime
      .collection(notesSpec, within)
      .find({ filters: { $values: { kind: kindOf(size / 2) } } });
    for (const [request, work] of Object.entries(requestsOf(connection, notesSpec, size, known)))
      note(request, await millisOf(work));
    note("first page by cursor, by hand", await millisOf(() => hand.page()));
    bytes.push((await hand.bytes()) / size);
    if (size > mostOthers) continue;
    signals = await fill(connection.database, mailbox, signals, size);
    for (const [request, work] of Object.entries(signalsOf(connection.database, mailbox, size)))
      note(request, await millisOf(work));
    objects = await hand.putObjects(objects, size);
    await hand.settle();
    const server = await serveObjects(root, url, folder);
    for (const [request, work] of Object.entries(await objectsOf(server.url)))
      note(request, await millisOf(work));
    await server.stop();
  }
  await hand.close();
  await connection.close();
  process.stdout.write(
    `${engine}: ${bytes.map(Math.round).join(", ")} bytes a document, with its indexes\n`,
  );
  return [...measured].map(([request, all]) => [
    engine,
    request,
    ...sizes.map((_size, at) => shown(all[at], 2)),
    shown(all.at(-1) / all[0], 1),
  ]);
}

function shown(number, digits) {
  return number === Infinity ? "no answer" : (number?.toFixed(digits) ?? "");
}

/** The requests that are measured, of a service with so many documents. */
function requestsOf(connection, spec, size, known) {
  const context = connection.context("notes.list");
  const middle = kindOf(size / 2);
  const cursor = (body) => {
    const request = parsed(runtime.listing.cursor(spec), body);
    return () => runtime.documents.listCursor(spec)(request, context);
  };
  const page = (body) => {
    const request = parsed(runtime.listing.page(spec), body);
    return () => runtime.documents.list(spec)(request, context);
  };
  const ids = [];
  const create = async () => {
    const made = await connection.write("bench.create", (within) =>
      runtime.collection(spec, within).create({ text: "new", kind: -1, rank: 0 }),
    );
    ids.push(made.id);
  };
  return {
    create,
    update: () =>
      connection.write("bench.update", (within) =>
        runtime.collection(spec, within).update(ids.pop(), 1, { rank: 1 }),
      ),
    "by id": () => runtime.documents.get(spec)({ id: known }, context),
    "by an index, 20 of 100": cursor({ filters: { $values: { kind: middle } }, size: 20 }),
    "first page by cursor": cursor({ size: 20 }),
    "first page, counted to 1 000": page({ size: 20, count: { up_to: 1_000 } }),
    "first page, counted": page({ size: 20 }),
    "an unindexed equality, by cursor": cursor({ filters: { $values: { rank: -5 } }, size: 20 }),
  };
}

async function millisOf(work) {
  const times = [];
  const end = performance.now() + longestMillis;
  for (let round = 0; round < rounds + 3; round += 1) {
    const started = performance.now();
    try {
      await work();
    } catch (error) {
      // It takes longer than a service lets any statement take.
      if (error.code === "core.timeout") return Infinity;
      throw error;
    }
    if (round >= 3) times.push(performance.now() - started);
    if (times.length >= 3 && performance.now() > end) break;
  }
  return median(times);
}

/** Documents from one number to another, by the command that brings data. */
async function importNotes(root, url, folder, from, to) {
  const place = join(folder, `in-${to}`);
  mkdirSync(join(place, "documents"), { recursive: true });
  const file = createWriteStream(join(place, "documents/notes.jsonl"));
  for (let index = from; index < to; index += 1) {
    const time = new Date(Date.UTC(2020, 0, 1) + index * 1_000).toISOString();
    const data = {
      id: randomUUID(),
      rev: 1,
      created_at: time,
      last_update_at: time,
      text: `Note ${index}, which has a text about as long as notes usually have.`,
      kind: kindOf(index),
      rank: index,
    };
    if (!file.write(`${JSON.stringify({ data })}\n`)) await once(file, "drain");
  }
  file.end();
  await finished(file);
  execute("node", [join(root, "dist/generated/server.js"), "import", place], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: url, DATA_DIR: folder, LOG_LEVEL: "warn" },
    timeout: 0,
  });
  rmSync(place, { recursive: true });
}

const perTransaction = 1_000;

/** Puts signals into one mailbox, and gives them their positions. */
async function fill(database, { tenant, principalId }, from, to) {
  const options = { lifetime: runtime.Lifetime.unlimited() };
  for (let index = from; index < to; index += perTransaction)
    await database.write(options, async (transaction) => {
      const store = transaction.of(mailboxStore);
      const some = Math.min(perTransaction, to - index);
      await Promise.all(
        Array.from({ length: some }, () =>
          store.stage(tenant, signal(), [principalId], Date.now()),
        ),
      );
    });
  for (let left = await database.reader.of(mailboxStore).stagedShards(); left.length > 0;)
    left = (
      await database.write(options, (transaction) => transaction.of(mailboxStore).number(left, 500))
    ).unfinished;
  return to;
}

const signal = () => ({
  eventId: randomUUID(),
  name: "note.told",
  data: '{"text":"a note"}',
  shape: null,
  traceparent: null,
});

/** The latest signals, and a new one until it has its position. */
function signalsOf(database, owner, size) {
  const options = { lifetime: runtime.Lifetime.unlimited() };
  return {
    "the last 20 signals of a mailbox": () =>
      database.reader.of(mailboxStore).read(owner, size - 20, 20),
    "a signal into it": async () => {
      await database.write(options, (transaction) =>
        transaction.of(mailboxStore).stage(owner.tenant, signal(), [owner.principalId], Date.now()),
      );
      const shards = await database.reader.of(mailboxStore).stagedShards();
      await database.write(options, (transaction) =>
        transaction.of(mailboxStore).number(shards, 500),
      );
    },
  };
}

/** The service of the bench, as a process. */
async function serveObjects(root, url, folder) {
  const port = await freePort();
  const own = `http://127.0.0.1:${port}`;
  const env = { PORT: String(port), DATABASE_URL: url, DATA_DIR: folder, LOG_LEVEL: "error" };
  const server = await serve([join(root, "dist/generated/server.js")], `${own}/livez`, {
    cwd: root,
    env: { ...process.env, ...env },
  });
  return { ...server, url: own };
}

/** Requests for objects of a kilobyte, over HTTP. */
async function objectsOf(url) {
  const asked = async (path, options) => {
    const answer = await fetch(`${url}/files/files${path}`, options);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.text();
  };
  const upload = () => {
    const body = new FormData();
    body.append("file", new Blob(["x".repeat(1_024)]), "x.txt");
    return asked("", { method: "POST", body });
  };
  const { key } = JSON.parse(await upload());
  const json = { method: "POST", headers: { "content-type": "application/json" } };
  return {
    "an upload, over HTTP": upload,
    "a download, over HTTP": () => asked(`/${key}`),
    "a page of objects, counted to 1 000, over HTTP": () =>
      asked("/list", { ...json, body: `{"count":{"up_to":1000}}` }),
    "a page of objects, over HTTP": () => asked("/list", { ...json, body: "{}" }),
  };
}

/** Rows of objects that nothing else has, from one number to another. */
const objectRows = {
  sqlite: (from, to) =>
    `WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${to}) INSERT INTO "opwright_objects" SELECT printf('files/default/01890000-0000-7000-8000-%012x', i), 1024, 'text/plain', 'e', 1700000000000, 'x.txt', NULL, '' FROM n`,
  postgres: (from, to) =>
    `INSERT INTO "opwright_objects" SELECT 'files/default/01890000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'), 1024, 'text/plain', 'e', 1700000000000, 'x.txt', NULL, '' FROM generate_series(${from}, ${to} - 1) AS i`,
};

const columns = `"id", "rev", "created_at", "last_update_at", "body"`;

/** The first page as somebody writes it who knows the table. */
async function byHand(engine, url) {
  const page = `SELECT ${columns} FROM "notes" WHERE "is_deleted" = ${engine === "sqlite" ? "0" : "false"} ORDER BY "id" LIMIT 21`;
  if (engine === "sqlite") {
    const connection = openSqlite(url.slice("sqlite:".length));
    const statement = connection.prepare(page);
    return {
      page: async () => answered(statement.all([])),
      settle: async () => connection.exec("ANALYZE"),
      async putObjects(from, to) {
        connection.exec(objectRows.sqlite(from, to));
        return to;
      },
      async bytes() {
        const text = `SELECT sum("pgsize") AS "bytes" FROM dbstat WHERE "name" LIKE '%notes%'`;
        try {
          return connection.prepare(text).all([])[0].bytes;
        } catch {
          return Number.NaN;
        }
      },
      close: async () => connection.close(),
    };
  }
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  return {
    page: async () => answered((await pool.query({ name: "page", text: page })).rows),
    settle: () => pool.query("VACUUM ANALYZE"),
    async putObjects(from, to) {
      await pool.query(objectRows.postgres(from, to));
      return to;
    },
    async bytes() {
      const { rows } = await pool.query(
        `SELECT pg_total_relation_size('notes')::float8 AS "bytes"`,
      );
      return rows[0].bytes;
    },
    close: () => pool.end(),
  };
}

function answered(rows) {
  const hits = rows.map(({ body, ...others }) => ({
    ...others,
    ...(typeof body === "string" ? JSON.parse(body) : body),
  }));
  return JSON.stringify({ hits });
}
