// Time from process start to the first answer, and memory then: the reference service, as it is compiled and as
// `opwright build` writes it, and a service of 500 operations.
import { join } from "node:path";
import { registryOf } from "./registry-of.mjs";
import {
  amount,
  bin,
  compile,
  execute,
  freePort,
  project,
  repository,
  serve,
  table,
} from "./tools.mjs";

const operations = amount(500, 20);
const rounds = amount(6, 1);

export async function run() {
  const { root, remove } = project(registryOf(operations));
  execute(process.execPath, [bin, "generate"], { cwd: root });
  compile(root);
  const row = async (name, entry, data, bar) => {
    const { millis, megabytes } = await best(entry, root, data);
    return [name, `${millis.toFixed(0)} ms`, `${megabytes.toFixed(0)} MB`, bar];
  };
  const reference = join(repository, "dist/service/generated/server.js");
  const artefact = join(root, "artefact");
  execute(process.execPath, [bin, "build", "--to", artefact], { cwd: repository });
  const bare = join(repository, "test/bench/http/bare.mjs");
  table(
    ["server", "start", "memory", "bar"],
    [
      await row("the reference service", reference, "tracker", "1.8 times bare"),
      await row("its artefact", join(artefact, "server.js"), "artefact", "1.5 times bare"),
      await row(`${operations} operations`, join(root, "dist/generated/server.js"), "large", ""),
      await row("node:http, bare", bare, "bare", ""),
    ],
  );
  remove();
}

async function best(entry, cwd, name) {
  const results = [];
  for (let round = 0; round < rounds; round += 1) {
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
