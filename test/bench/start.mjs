// Time from process start to the first answer, and memory then: the reference service, and a service of 500 operations.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { registryOf } from "./registry-of.mjs";
import { bin, compile, freePort, project, repository, serve, table } from "./tools.mjs";

export async function run() {
  const { root, remove } = project(registryOf(500));
  spawnSync(process.execPath, [bin, "generate"], { cwd: root });
  compile(root);
  const rows = [
    [
      "the reference service",
      await best(join(repository, "dist/service/generated/server.js"), root, "tracker"),
      "1.8 times bare",
    ],
    ["500 operations", await best(join(root, "dist/generated/server.js"), root, "large"), ""],
    ["node:http, bare", await best(join(repository, "test/bench/http/bare.mjs"), root, "bare"), ""],
  ];
  table(
    ["server", "start", "memory", "bar"],
    rows.map(([name, { millis, megabytes }, bar]) => [
      name,
      `${millis.toFixed(0)} ms`,
      `${megabytes.toFixed(0)} MB`,
      bar,
    ]),
  );
  remove();
}

async function best(entry, cwd, name) {
  const results = [];
  for (let round = 0; round < 6; round += 1) {
    const port = await freePort();
    const env = {
      ...process.env,
      PORT: String(port),
      LOG_LEVEL: "error",
      DATA_DIR: join(cwd, ".data", name),
    };
    const server = await serve([entry], `http://127.0.0.1:${port}/livez`, { cwd, env });
    results.push({ millis: server.millis, megabytes: server.megabytes() });
    await server.stop();
  }
  return {
    millis: Math.min(...results.map(({ millis }) => millis)),
    megabytes: Math.min(...results.map(({ megabytes }) => megabytes)),
  };
}
