// What grows with the number of operations of a registry: generation, compilation, start, memory, and a request.
import { join } from "node:path";
import { perDocument, registryOf, usualShare } from "./registry-of.mjs";
import {
  amount,
  bin,
  compile,
  execute,
  freePort,
  measure,
  median,
  project,
  serve,
  table,
} from "./tools.mjs";

const sizes = amount([10, 100, 1_000, 5_000], [10, 30]);
const requests = amount(300, 10);
/** None of the requests may be refused. */
const open = {
  "registry/service.yaml": `registry: 1
service: {name: large, title: Large API, version: 1.0.0}
policies: {open: []}
`,
};

const asking = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ rev: 1, count: 2, tags: ["a"] }),
};

/** The share of operations that come from documents; of ten, none does, since a document has eleven. */
const shareOf = (size) => (size < 2 * perDocument ? 0 : usualShare);

/** The path of the last operation with a handler. */
function lastOperation(size) {
  const number = size - Math.round((size * shareOf(size)) / perDocument) * perDocument - 1;
  const namespace = `job${String(Math.floor(number / 10)).padStart(3, "0")}`;
  return `/${namespace}/01890000-0000-7000-8000-000000000001/run${number}`;
}

export async function run() {
  const rows = [];
  for (const size of sizes) {
    const { root, remove } = project({ ...registryOf(size, shareOf(size)), ...open });
    const generated = measure(root, [bin, "generate"], 1);
    const started = performance.now();
    compile(root);
    const compiling = (performance.now() - started) / 1_000;
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const entry = join(root, "dist/generated/server.js");
    const env = {
      ...process.env,
      PORT: String(port),
      LOG_LEVEL: "error",
      DATA_DIR: join(root, ".data"),
    };
    // What makes the tables is no part of a start.
    execute(process.execPath, [entry, "migrate"], { cwd: root, env });
    const server = await serve([entry], `${url}/livez`, { cwd: root, env });
    const before = server.megabytes();
    const times = [];
    for (let request = 0; request < requests; request += 1) {
      const began = performance.now();
      const answer = await fetch(`${url}${lastOperation(size)}`, asking);
      if (!answer.ok) throw new Error(await answer.text());
      await answer.text();
      times.push(performance.now() - began);
    }
    const get = median(times);
    await server.stop();
    rows.push([
      size,
      generated.seconds.toFixed(2),
      generated.megabytes.toFixed(0),
      compiling.toFixed(1),
      server.millis.toFixed(0),
      before.toFixed(0),
      get.toFixed(2),
    ]);
    remove();
  }
  table(
    [
      "operations",
      "generate, s",
      "peak, MB",
      "tsc, s",
      "start, ms",
      "resident, MB",
      "a request, ms",
    ],
    rows,
  );
}
