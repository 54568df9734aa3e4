// What a continuous backup costs and brings: requests a second with it and without; how long what was committed isn't in it yet;
// how long a database takes to be kept at first, to be compared after a start, and to be brought back, beside a copy of its file.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqlite } from "../../dist/runtime/engines/sqlite/driver.js";
import { generator, loaded, warmUp } from "./load.mjs";
import {
  amount,
  bin,
  compile,
  cpuSeconds,
  execute,
  freePort,
  median,
  project,
  serve,
  table,
} from "./tools.mjs";

const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const rounds = Number(process.env.BENCH_ROUNDS ?? amount(5, 1));
/** Sizes of databases, in megabytes. */
const sizes = amount([10, 100, 1_000], [10]);
const writes = amount(100, 5);

const registry = {
  "registry/service.yaml": `registry: 1
service: {name: bench, title: Bench, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open}
`,
};

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "opwright-bench-backup-"));
  const { root, remove } = project(registry);
  execute(process.execPath, [bin, "generate"], { cwd: root });
  compile(root);
  const entry = `${root}/dist/generated/server.js`;
  await tellCost(root, entry, folder);
  await tellLag(root, entry, folder);
  await tellSizes(root, entry, folder);
  rmSync(folder, { recursive: true, force: true });
  remove();
}

/** A service on a folder of data, with a backup in another one, or without. */
async function serveOn(root, entry, data, backup) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    ...process.env,
    PORT: String(port),
    DATA_DIR: data,
    LOG_LEVEL: "error",
    ...(backup === null ? {} : { BACKUP_URL: `file:${backup}` }),
  };
  const server = await serve([entry], `${url}/healthz`, { cwd: root, env });
  return { url, server };
}

function postOf(url) {
  return {
    url: `${url}/notes`,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: "a note of a few words, as somebody may write it down" }),
  };
}

async function tellCost(root, entry, folder) {
  const runs = { without: [], with: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const kind of Object.keys(runs)) {
      const data = mkdtempSync(join(folder, "cost-"));
      const backup = kind === "with" ? `${data}-backup` : null;
      const { url, server } = await serveOn(root, entry, data, backup);
      const post = postOf(url);
      await warmUp(post);
      const before = cpuSeconds(server.pid);
      const { average, total } = await loaded(post, seconds);
      const cpu = ((cpuSeconds(server.pid) - before) * 1e6) / total;
      runs[kind].push({ rate: average, cpu });
      await server.stop();
    }
  const rateOf = (kind) => median(runs[kind].map(({ rate }) => rate));
  table(
    ["POST", "requests/s", "of without", "CPU, µs"],
    Object.keys(runs).map((kind) => [
      `${kind} a backup`,
      Math.round(rateOf(kind)),
      (rateOf(kind) / rateOf("without")).toFixed(2),
      median(runs[kind].map(({ cpu }) => cpu)).toFixed(1),
    ]),
  );
  process.stdout.write(
    `\nMedians of ${rounds} processes of each. The load came from ${generator}.\n\n`,
  );
}

/** Until when the backup has everything, in milliseconds since 1970; 0 if that isn't known yet. */
async function keptUntil(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^opwright_backup_kept_timestamp_seconds ([\d.]+)$/m.exec(text)?.[1] ?? 0) * 1_000;
}

/** Milliseconds until the backup has everything that was committed before. */
async function untilKept(url) {
  const from = Date.now();
  while ((await keptUntil(url)) <= from) await sleep(5);
  return Date.now() - from;
}

async function tellLag(root, entry, folder) {
  const data = mkdtempSync(join(folder, "lag-"));
  const { url, server } = await serveOn(root, entry, data, `${data}-backup`);
  await untilKept(url);
  const lags = [];
  for (let at = 0; at < writes; at += 1) {
    // At any moment of the half second.
    await sleep(500 * ((at * 0.618) % 1));
    await fetch(postOf(url).url, postOf(url));
    lags.push(await untilKept(url));
  }
  await server.stop();
  const ordered = lags.toSorted((one, other) => one - other);
  const share = (of) => ordered[Math.floor(of * (ordered.length - 1))];
  table(
    ["a write is kept after, ms", "half", "nine in ten", "most"],
    [["", share(0.5), share(0.9), share(1)]],
  );
  process.stdout.write(`\n${writes} writes, one at a time.\n\n`);
}

async function tellSizes(root, entry, folder) {
  const rows = [];
  for (const size of sizes) {
    const data = mkdtempSync(join(folder, "size-"));
    const backup = `${data}-backup`;
    const made = await serveOn(root, entry, data, null);
    await fetch(postOf(made.url).url, postOf(made.url));
    await made.server.stop();
    fill(join(data, "service.db"), size);
    const first = await serveOn(root, entry, data, backup);
    const full = await timeOf(() => untilKept(first.url));
    await first.server.stop();
    const bytes = sizeOf(backup);
    const second = await serveOn(root, entry, data, backup);
    const compared = await timeOf(() => untilKept(second.url));
    await second.server.stop();
    const copied = await timeOf(() => copyDurably(join(data, "service.db"), `${data}-copy`));
    const whole = statSync(join(data, "service.db")).size;
    rmSync(data, { recursive: true });
    const env = { ...process.env, DATA_DIR: data, BACKUP_URL: `file:${backup}` };
    const restored = await timeOf(() =>
      execute(process.execPath, [entry, "restore"], { cwd: root, env }),
    );
    if (!existsSync(join(data, "service.db"))) throw new Error("nothing was restored");
    rows.push([
      Math.round(whole / 1e6),
      (full / 1_000).toFixed(1),
      (compared / 1_000).toFixed(1),
      (restored / 1_000).toFixed(1),
      (restored / copied).toFixed(1),
      (bytes / whole).toFixed(2),
    ]);
    for (const path of [data, backup, `${data}-copy`])
      rmSync(path, { recursive: true, force: true });
  }
  table(
    [
      "database, MB",
      "kept at first, s",
      "compared after a start, s",
      "restored, s",
      "of a copy of the file",
      "its size in the backup",
    ],
    rows,
  );
  process.stdout.write("\nOne run of each, in folders of one disk.\n");
}

async function timeOf(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Adds notes of 4 000 characters, of words of which some are alike, until the database is as large. */
function fill(path, megabytes) {
  const connection = openSqlite(path);
  const [row] = connection.prepare(`SELECT * FROM "notes" LIMIT 1`).all([]);
  const names = Object.keys(row).filter((name) => name !== "_metadata");
  const insert = connection.prepare(
    `INSERT INTO "notes" (${names.map((name) => `"${name}"`).join()}) VALUES (${names.map(() => "?").join()})`,
  );
  const count = megabytes * 225;
  let state = 1;
  const word = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state % 4_000).toString(36).padStart(8, "q");
  };
  for (let at = 0; at < count; at += 1) {
    if (at % 1_000 === 0) connection.exec(at === 0 ? "BEGIN" : "COMMIT; BEGIN");
    const text = Array.from({ length: 440 }, word).join(" ");
    const id = `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`;
    const values = { ...row, id, body: JSON.stringify({ text }) };
    insert.run(names.map((name) => values[name]));
  }
  connection.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  connection.close();
}

function copyDurably(from, to) {
  copyFileSync(from, to);
  const file = openSync(to, "r+");
  fsyncSync(file);
  closeSync(file);
}

function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
