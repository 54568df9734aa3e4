// Requests a second of a read behind a token, whose session is asked about on every request, beside the same read in
// the open, for many callers in turn: opwright, and Fastify 5 with @fastify/jwt and the same query on the same PostgreSQL.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onEngine } from "./engines.mjs";
import { guardedRead, issueTokens } from "./http/guarded-read.mjs";
import { knownId } from "./http/work.mjs";
import { load, warmUp } from "./load.mjs";
import { amount, bin, compile, execute, freePort, project, serve, table } from "./tools.mjs";

const folder = fileURLToPath(new URL("http", import.meta.url));
const seconds = Number(process.env.BENCH_SECONDS ?? 4);
const rounds = amount(3, 1);
/** Each request is of the next one of so many people, in a session of each. */
const people = amount(500, 10);

export async function run() {
  const { root, remove } = project(guardedRead);
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
  for (const one of [env, sqlite]) tokens.set(one, await issueTokens(root, one, people));
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
