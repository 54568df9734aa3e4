// Requests a second of a read behind a token, whose session is asked about on every request, beside the same read in
// the open: opwright, and Fastify 5 with @fastify/jwt and the same query on the same PostgreSQL.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { knownId } from "./http/work.mjs";
import { load } from "./load.mjs";
import { bin, compile, freePort, project, serve, table } from "./tools.mjs";

const folder = fileURLToPath(new URL("http", import.meta.url));
const server = process.env.BENCH_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/postgres";
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const rounds = 3;
const credentials = { login: "bench@example.test", password: "correct horse battery staple" };

const registry = {
  "registry/service.yaml": `registry: 1
service: {name: bench, title: Bench, version: 1.0.0}
policies: {open: [], member: [principal]}
identity: {access_ttl: 1h}
types:
  Task: {id: uuid, rev: integer, title: string, project: uuid, assignee: uuid?, due: date-time?, estimate: number, labels: "string[]"}
operations:
  tasks.open: {get: "/open/{id}", in: {id: uuid}, out: Task, run: registry/handlers.ts#get, guard: open}
  tasks.guarded: {get: "/guarded/{id}", in: {id: uuid}, out: Task, run: registry/handlers.ts#get, guard: member}
`,
  "registry/handlers.ts": `import { fail } from "opwright/runtime";
import type { Task } from "../generated/types/models.js";
const at: string = ${JSON.stringify(join(folder, "work.mjs"))};
const work: { findTask(id: string): Task | undefined } = await import(at);
export const get = ({ id }: { readonly id: string }) => {
  const task = work.findTask(id);
  if (task === undefined) throw fail("core.not_found");
  return task;
};
`,
};

export async function run() {
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  const name = `opwright_bench_${process.pid}`;
  await admin.query(`CREATE DATABASE ${name}`);
  const database = new URL(server);
  database.pathname = `/${name}`;
  const { root, remove } = project(registry);
  try {
    const generated = spawnSync(process.execPath, [bin, "generate"], {
      cwd: root,
      encoding: "utf8",
    });
    if (generated.status !== 0) throw new Error(generated.stdout + generated.stderr);
    compile(root);
    await compare(root, {
      ...process.env,
      DATABASE_URL: database.href,
      SECRETS_ACCESS_TOKEN: randomBytes(32).toString("base64url"),
      LOG_LEVEL: "error",
    });
  } finally {
    remove();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  }
}

async function compare(root, env) {
  const entry = join(root, "dist/generated/server.js");
  const sqlite = { ...env, DATABASE_URL: `sqlite:${join(root, "bench.db")}` };
  const tokens = new Map();
  for (const one of [env, sqlite]) tokens.set(one, await signIn(entry, root, one));
  const servers = {
    "opwright, PostgreSQL": [entry, env],
    "Fastify 5, @fastify/jwt, PostgreSQL": [join(folder, "fastify-jwt.mjs"), env],
    "opwright, SQLite": [entry, sqlite],
  };
  const best = Object.fromEntries(
    Object.keys(servers).map((key) => [key, { open: 0, guarded: 0 }]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const [key, [file, environment]] of Object.entries(servers)) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const running = await serve([file], `${url}/open/${knownId}`, {
        cwd: root,
        env: { ...environment, PORT: String(port) },
      });
      const headers = { authorization: `Bearer ${tokens.get(environment)}` };
      const requests = {
        open: { url: `${url}/open/${knownId}` },
        guarded: { url: `${url}/guarded/${knownId}`, headers },
      };
      for (const [kind, request] of Object.entries(requests)) {
        await load(request, 1);
        best[key][kind] = Math.max(best[key][kind], await load(request, seconds));
      }
      await running.stop();
    }
  }
  table(
    ["server", "open, requests/s", "with a token, requests/s", "share of the open rate"],
    Object.entries(best).map(([key, { open, guarded }]) => [
      key,
      Math.round(open),
      Math.round(guarded),
      (guarded / open).toFixed(2),
    ]),
  );
}

/** An access token of a principal that is made here. */
async function signIn(entry, cwd, env) {
  const { login, password } = credentials;
  const made = spawnSync(process.execPath, [entry, "create-principal", login], {
    cwd,
    env,
    input: password,
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(made.stderr);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running = await serve([entry], `${url}/readyz`, {
    cwd,
    env: { ...env, PORT: String(port) },
  });
  const answer = await fetch(`${url}/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(credentials),
  });
  const { access_token: token } = await answer.json();
  await running.stop();
  return token;
}
