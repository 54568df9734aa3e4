// Requests a second of a read behind a token, whose session is asked about on every request, beside the same read in
// the open: opwright, and Fastify 5 with @fastify/jwt and the same query on the same PostgreSQL.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onEngine } from "./engines.mjs";
import { knownId } from "./http/work.mjs";
import { load, warmUp } from "./load.mjs";
import { amount, bin, compile, execute, freePort, project, serve, table } from "./tools.mjs";

const folder = fileURLToPath(new URL("http", import.meta.url));
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const rounds = amount(3, 1);
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
  const { root, remove } = project(registry);
  execute(process.execPath, [bin, "generate"], { cwd: root });
  compile(root);
  await onEngine("postgres", (database) =>
    compare(root, {
      ...process.env,
      DATABASE_URL: database,
      SECRETS_ACCESS_TOKEN: randomBytes(32).toString("base64url"),
      LOG_LEVEL: "error",
    }),
  );
  remove();
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
        await warmUp(request);
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
  execute(process.execPath, [entry, "create-principal", login], { cwd, env, input: password });
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
  const { access_token: token } = JSON.parse(await answer.text());
  await running.stop();
  return token;
}
