// What grows with the number of processes on one PostgreSQL: reads behind a token, with as many callers for each process.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { cpus } from "node:os";
import pg from "pg";
import { onEngine } from "./engines.mjs";
import { guardedRead, issueTokens } from "./http/guarded-read.mjs";
import { knownId } from "./http/work.mjs";
import { loaded, warmUp } from "./load.mjs";
import {
  amount,
  bin,
  compile,
  cpuSeconds,
  execute,
  freePort,
  project,
  serve,
  table,
} from "./tools.mjs";

const counts = amount([1, 2, 3, 4], [1, 2]);
const seconds = amount(4, 1);
/** Connections of callers to each process. */
const connections = 16;

export async function run() {
  const { root, remove } = project(guardedRead);
  execute(process.execPath, [bin, "generate"], { cwd: root });
  compile(root);
  const rows = [];
  await onEngine("postgres", async (database) => {
    const env = {
      ...process.env,
      DATABASE_URL: database,
      SECRETS_ACCESS_TOKEN: randomBytes(32).toString("base64url"),
      LOG_LEVEL: "error",
    };
    const turns = (await issueTokens(root, env, amount(200, 10))).map((token) => ({
      authorization: `Bearer ${token}`,
    }));
    for (const count of counts) rows.push(await measured(root, env, turns, count));
  });
  table(
    [
      "processes",
      "requests/s",
      "CPU of processes, µs",
      "connections to PostgreSQL",
      "resident, MB each",
    ],
    rows,
  );
  process.stdout.write(`\n${cpus().length} cores for the processes, PostgreSQL, and what asks.\n`);
  remove();
}

async function measured(root, env, turns, count) {
  const servers = [];
  for (let index = 0; index < count; index += 1) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const entry = join(root, "dist/generated/server.js");
    const server = await serve([entry], `${url}/open/${knownId}`, {
      cwd: root,
      env: { ...env, PORT: String(port) },
    });
    servers.push({ ...server, request: { url: `${url}/guarded/${knownId}`, turns, connections } });
  }
  await Promise.all(servers.map(({ request }) => warmUp(request)));
  const cpu = () => servers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const before = cpu();
  const results = await Promise.all(servers.map(({ request }) => loaded(request, seconds)));
  const spent = cpu() - before;
  const total = results.reduce((sum, one) => sum + one.total, 0);
  const rate = results.reduce((sum, { average }) => sum + average, 0);
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  const { rows } = await client.query(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  );
  await client.end();
  const megabytes = servers.reduce((sum, one) => sum + one.megabytes(), 0) / count;
  for (const { stop } of servers) await stop();
  return [
    count,
    Math.round(rate),
    ((spent / total) * 1e6).toFixed(1),
    rows[0].n,
    megabytes.toFixed(0),
  ];
}
