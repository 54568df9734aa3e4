// What traces cost: requests a second, and CPU a request, of documents that are read and created, without an SDK and with one
// that records some of the traces or all. Each process takes its turn; the spans go to a server that throws them away.
import { createServer } from "node:http";
import { engines, onEngine } from "./engines.mjs";
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
const sdk = new URL("traces/sdk.mjs", import.meta.url).href;

const registry = {
  "registry/service.yaml": `registry: 1
service: {name: bench, title: Bench, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: {text: string, pinned: boolean}, guard: open}
`,
};

/** How much of the traces is recorded, and whether libraries find the span that is under way; null where nothing traces. */
const variants = {
  "without an SDK": null,
  "10 % recorded": { share: 0.1, hasContext: false },
  "all recorded": { share: 1, hasContext: false },
  "all, with a context manager": { share: 1, hasContext: true },
};

export async function run() {
  const sink = createServer((req, res) => req.resume().on("end", () => res.end("{}")));
  await new Promise((resolve) => sink.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (sink.address());
  const { root, remove } = project(registry);
  execute(process.execPath, [bin, "generate"], { cwd: root });
  compile(root);
  const rows = [];
  for (const engine of engines)
    rows.push(...(await onEngine(engine, (url) => ofEngine(engine, url, root, port))));
  const heads = ["requests/s", "of without", "CPU, µs"];
  table(
    [
      "engine",
      "traces",
      ...heads.map((head) => `GET, ${head}`),
      ...heads.map((head) => `POST, ${head}`),
    ],
    rows,
  );
  process.stdout.write(
    `\nMedians of ${rounds} processes of each. The load came from ${generator}.\n`,
  );
  sink.closeAllConnections();
  sink.close();
  remove();
}

async function ofEngine(engine, databaseUrl, root, sinkPort) {
  const runs = Object.fromEntries(
    Object.keys(variants).map((name) => [name, { get: [], post: [] }]),
  );
  for (let round = 0; round < rounds; round += 1)
    for (const [name, variant] of Object.entries(variants)) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const traced = variant === null ? {} : tracing(variant, sinkPort);
      const env = {
        ...process.env,
        ...traced,
        PORT: String(port),
        DATABASE_URL: databaseUrl,
        LOG_LEVEL: "error",
      };
      const entry = `${root}/dist/generated/server.js`;
      const server = await serve([entry], `${url}/healthz`, { cwd: root, env });
      const post = {
        url: `${url}/notes`,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text: "a note", pinned: false }),
      };
      const made = await fetch(post.url, post);
      const { id } = /** @type {{ id: string }} */ (await made.json());
      for (const [kind, request] of Object.entries({ get: { url: `${url}/notes/${id}` }, post })) {
        await warmUp(request);
        const before = cpuSeconds(server.pid);
        const { average, total } = await loaded(request, seconds);
        const cpu = ((cpuSeconds(server.pid) - before) * 1e6) / total;
        runs[name][kind].push({ rate: average, cpu });
      }
      await server.stop();
    }
  const rateOf = (name, kind) => median(runs[name][kind].map(({ rate }) => rate));
  const cells = (name, kind) => [
    Math.round(rateOf(name, kind)),
    (rateOf(name, kind) / rateOf("without an SDK", kind)).toFixed(2),
    median(runs[name][kind].map(({ cpu }) => cpu)).toFixed(1),
  ];
  return Object.keys(variants).map((name) => [
    engine,
    name,
    ...cells(name, "get"),
    ...cells(name, "post"),
  ]);
}

function tracing({ share, hasContext }, sinkPort) {
  return {
    NODE_OPTIONS: `--import ${sdk}`,
    BENCH_SAMPLED: String(share),
    BENCH_HAS_CONTEXT: String(hasContext),
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sinkPort}`,
  };
}
