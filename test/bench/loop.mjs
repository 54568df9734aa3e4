// From a change to its answer in `opwright dev`, on the tracker of `init`; beside it, doing everything anew.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  amount,
  bin,
  ending,
  execute,
  freePort,
  project,
  repository,
  serve,
  table,
} from "./tools.mjs";

const rounds = amount(5, 1);
/** Longer than what `dev` does behind an answer: the next change would wait for it. */
const restMillis = amount(3_000, 500);
const patienceMillis = 60_000;

export async function run() {
  const { root, remove } = project({});
  execute(process.execPath, [bin, "init", root, "--template", "tracker", "--yes"]);
  mkdirSync(join(root, "node_modules"));
  symlinkSync(repository, join(root, "node_modules/opwright"));
  for (const name of ["@types", "express", "socket.io", "typescript"])
    symlinkSync(join(repository, "node_modules", name), join(root, "node_modules", name));
  const port = await freePort();
  const environment = { ...process.env, PORT: String(port), LOG_LEVEL: "error" };
  const url = `http://127.0.0.1:${port}`;
  const dev = ending(
    spawn(process.execPath, [bin, "dev"], { cwd: root, env: environment, stdio: "ignore" }),
  );
  await answers(`${url}/`, "Tracker API");
  await sleep(2 * restMillis);
  const code = await changes(root, "registry/pages.ts", "Tracker API", `${url}/`);
  const yaml = await changes(root, "registry/service.yaml", "title: ", `${url}/openapi.json`);
  dev.kill("SIGTERM");
  await once(dev, "exit");
  const anew = await allAnew(root, url, environment);
  const row = (what, millis, bar) => [
    what,
    `${millis.toFixed(0)} ms`,
    (millis / anew).toFixed(2),
    bar,
  ];
  table(
    ["change", "until it is answered", "relative", "bar"],
    [row("code", code, "1000 ms"), row("YAML", yaml, "2000 ms"), row("everything anew", anew, "")],
  );
  remove();
}

/** The least time from a change of a file to an answer that shows it. */
async function changes(root, file, text, url) {
  const path = join(root, file);
  const before = readFileSync(path, "utf8");
  if (!before.includes(text)) throw new Error(`${file} has no "${text}"`);
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const mark = `round ${round} `;
    writeFileSync(path, before.replace(text, `${text}${mark}`));
    times.push(await answers(url, mark));
    await sleep(restMillis);
  }
  return Math.min(...times);
}

/** Generates, compiles and starts as a script would, without the memory of the last time. */
async function allAnew(root, url, env) {
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const service = join(root, "registry/service.yaml");
    writeFileSync(service, `${readFileSync(service, "utf8")}\n`);
    const started = performance.now();
    execute(process.execPath, [bin, "generate"], { cwd: root });
    execute(process.execPath, [tsc, "--incremental", "false"], { cwd: root });
    const server = await serve(["dist/generated/server.js"], `${url}/livez`, { cwd: root, env });
    times.push(performance.now() - started);
    await server.stop();
  }
  return Math.min(...times);
}

/** Milliseconds until an address answers with a text. */
async function answers(url, text) {
  const started = performance.now();
  while (performance.now() - started < patienceMillis) {
    try {
      if ((await (await fetch(url)).text()).includes(text)) return performance.now() - started;
    } catch {
      // Nobody listens yet.
    }
    await sleep(10);
  }
  throw new Error(`${url} does not answer with "${text}"`);
}
