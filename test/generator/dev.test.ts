// opwright dev: a change of the registry reaches the running server; a faulty one leaves it running.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("generates, compiles and restarts on each change", async () => {
  const { root, remove } = writeProject({});
  cli(root, "init", root, "--template", "minimal", "--yes");
  mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
  symlinkSync(repository, join(root, "node_modules/opwright"));
  symlinkSync(join(repository, "node_modules/@types"), join(root, "node_modules/@types"));
  symlinkSync(join(repository, "node_modules/.bin/tsc"), join(root, "node_modules/.bin/tsc"));
  const port = await freePort();
  const dev = spawn(process.execPath, [join(repository, "bin/opwright.mjs"), "dev"], {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], PORT: String(port) },
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => dev.on("exit", resolve));
  const answer = async (path: string): Promise<number> => {
    try {
      return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    } catch {
      return 0;
    }
  };
  const until = async (path: string, status: number): Promise<void> => {
    for (let tries = 0; tries < 600 && (await answer(path)) !== status; tries += 1) await sleep(50);
    expect(await answer(path)).toBe(status);
  };
  await until("/hello/ada", 200);
  const yaml = join(root, "registry/notes.yaml");
  const before = readFileSync(yaml, "utf8");
  writeFileSync(yaml, before.replace("/hello/{name}", "/hi/{name}"));
  await until("/hi/ada", 200);
  writeFileSync(yaml, before.replace("guard: open", "gaurd: open"));
  await sleep(500);
  expect(await answer("/hi/ada")).toBe(200);
  dev.kill("SIGTERM");
  expect(await exited).toBe(0);
  await until("/hi/ada", 0);
  remove();
});
