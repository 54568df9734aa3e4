// Requests a second of a read behind a token, whose session is asked about on every request, beside the same read in
// the open, for many callers in turn: opwright, and Fastify 5 with @fastify/jwt and the same query on the same PostgreSQL.
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as runtime from "../../dist/runtime/index.js";
import { identityStore } from "../../dist/runtime/ports/identity.js";
import { onEngine } from "./engines.mjs";
import { knownId } from "./http/work.mjs";
import { load, warmUp } from "./load.mjs";
import { amount, bin, compile, execute, freePort, project, serve, table } from "./tools.mjs";

const folder = fileURLToPath(new URL("http", import.meta.url));
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const rounds = amount(3, 1);
/** Each request is of the next one of so many people, in a session of each. */
const people = amount(500, 10);

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
  for (const one of [env, sqlite]) tokens.set(one, await issueTokens(root, one));
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
      const turns = tokens.get(environment).map((token) => ({ authorization: `Bearer ${token}` }));
      const requests = {
        open: { url: `${url}/open/${knownId}` },
        guarded: { url: `${url}/guarded/${knownId}`, turns },
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

/** Access tokens of as many people. */
async function issueTokens(root, env) {
  const { service } = await import(`${root}/dist/generated/service.js`);
  const { identitySpec } = await import(`${root}/dist/generated/identity.js`);
  const settings = runtime.readSettings(service, { ...env, DATA_DIR: root });
  const options = { settings, folder: join(root, "generated"), log: runtime.silentLog };
  const connection = await runtime.connect(service, options);
  const issued = await connection.write("bench.people", async (context) => {
    const some = [];
    for (let index = 0; index < people; index += 1) {
      const principal = { id: randomUUID(), login: `p${index}@example.test` };
      await context.transaction
        .of(identityStore)
        .addPrincipal({ ...principal, passwordHash: "", isActive: true });
      const session = { principalId: principal.id, tenant: null };
      some.push((await runtime.issueSession(identitySpec, context, session)).access_token);
    }
    return some;
  });
  await connection.close();
  return issued;
}
