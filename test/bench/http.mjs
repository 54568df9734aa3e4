// Requests a second of GET /tasks/{id} and POST /tasks over 40 routes, and the server's CPU a request, beside bare
// node:http, Fastify 5 and Express 5: medians of processes that take turns. One in eight or so is a fifth faster than its
// likes, so that the best of a few would compare luck.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { knownId, payload, routeCount } from "./http/work.mjs";
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

const folder = fileURLToPath(new URL("http", import.meta.url));
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const rounds = Number(process.env.BENCH_ROUNDS ?? amount(7, 1));

/** The same work as operations: handlers that import work.mjs. */
function registry() {
  const operations = Array.from(
    { length: routeCount / 2 },
    (_, index) => `  tasks.get${index}:
    get: /tasks${index}/{id}
    in: {id: uuid}
    out: Task
    run: registry/handlers.ts#get
    guard: open
  tasks.create${index}:
    post: /tasks${index}
    in: NewTask
    out: Task
    status: 201
    transaction: read
    run: registry/handlers.ts#create
    guard: open
`,
  ).join("");
  const fields = `    title: {type: string, minLength: 1, maxLength: 200}
    project: uuid
    assignee: uuid?
    due: date-time?
    estimate: {type: number, minimum: 0}
    labels: string[]
`;
  return {
    "registry/service.yaml":
      "registry: 1\nservice: {name: bench, title: Bench, version: 1.0.0}\npolicies: {open: []}\n",
    "registry/tasks.yaml": `registry: 1\ntypes:\n  NewTask:\n${fields}  Task:\n    id: uuid\n    rev: integer\n${fields}operations:\n${operations}`,
    "registry/handlers.ts": `import { fail } from "opwright/runtime";
import type { NewTask, Task } from "../generated/types/models.js";
const at: string = ${JSON.stringify(join(folder, "work.mjs"))};
const work: { makeTask(input: NewTask): Task; findTask(id: string): Task | undefined } = await import(at);
export const get = ({ id }: { readonly id: string }) => {
  const task = work.findTask(id);
  if (task === undefined) throw fail("core.not_found");
  return task;
};
export const create = (input: NewTask) => work.makeTask(input);
`,
  };
}

export async function run() {
  const { root, remove } = project(registry());
  execute(process.execPath, [bin, "generate"], { cwd: root });
  compile(root);
  const servers = {
    "node:http, bare": join(folder, "bare.mjs"),
    opwright: join(root, "dist/generated/server.js"),
    "Fastify 5": join(folder, "fastify.mjs"),
    "Express 5": join(folder, "express.mjs"),
  };
  const runs = Object.fromEntries(
    Object.keys(servers).map((name) => [name, { get: [], post: [] }]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, entry] of Object.entries(servers)) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const server = await serve([entry], `${url}/tasks3/${knownId}`, {
        cwd: root,
        env: { ...process.env, PORT: String(port), LOG_LEVEL: "error" },
      });
      const post = {
        url: `${url}/tasks7`,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(payload),
      };
      const get = { url: `${url}/tasks3/${knownId}` };
      for (const [kind, request] of Object.entries({ get, post })) {
        await warmUp(request);
        const before = cpuSeconds(server.pid);
        const { average, total } = await loaded(request, seconds);
        const micros = ((cpuSeconds(server.pid) - before) * 1e6) / total;
        runs[name][kind].push({ rate: average, cpu: micros });
      }
      await server.stop();
    }
  }
  const peer = runs["Fastify 5"];
  const rateOf = (each) => median(each.map(({ rate }) => rate));
  const cells = (kind, own) => {
    const rates = own[kind].map(({ rate }) => Math.round(rate));
    return [
      `${Math.round(rateOf(own[kind]))} (${Math.min(...rates)} to ${Math.max(...rates)})`,
      (rateOf(own[kind]) / rateOf(peer[kind])).toFixed(2),
      median(own[kind].map(({ cpu }) => cpu)).toFixed(1),
    ];
  };
  const heads = ["requests/s", "of Fastify's", "CPU, µs"];
  table(
    ["server", ...heads.map((head) => `GET, ${head}`), ...heads.map((head) => `POST, ${head}`)],
    Object.entries(runs).map(([name, own]) => [name, ...cells("get", own), ...cells("post", own)]),
  );
  process.stdout.write(
    `\nMedians of ${rounds} processes of each. The load came from ${generator}.\n`,
  );
  remove();
}
