// opwright dev: a change reaches the running server; one with findings, or that does not compile, leaves it running.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.js";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;
// The example's policy lets 600 requests a minute through.
const patience = { timeout: 120_000, interval: 100 };

/** A project of `init` with `opwright dev` running in it. `edits` are made before it starts. */
async function develop(
  edits: Readonly<Record<string, string>> = {},
  compiler: "typescript" | "typescript-5.9" = "typescript",
) {
  const { root, remove } = writeProject({});
  await cli(root, "init", root, "--template", "minimal", "--yes");
  mkdirSync(join(root, "node_modules"));
  symlinkSync(repository, join(root, "node_modules/opwright"));
  symlinkSync(join(repository, "node_modules/@types"), join(root, "node_modules/@types"));
  symlinkSync(join(repository, "node_modules", compiler), join(root, "node_modules/typescript"));
  const edit = (path: string, change: (text: string) => string): void => {
    const file = join(root, path);
    writeFileSync(file, change(readFileSync(file, "utf8")));
  };
  for (const [path, text] of Object.entries(edits)) writeFileSync(join(root, path), text);
  const port = await freePort();
  const dev = spawn(process.execPath, [join(repository, "bin/opwright.mjs"), "dev"], {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  dev.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  dev.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(dev, "exit");
  const answer = async (path: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
    return response === undefined ? "nobody" : `${response.status} ${await response.text()}`;
  };
  const stop = async (): Promise<void> => {
    dev.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    remove();
  };
  onTestFinished(() => void dev.kill("SIGTERM"));
  return { edit, answer, output: () => output, stop };
}

const greeting = (name: string): string => `200 ${JSON.stringify({ greeting: name })}`;

test.each(["typescript", "typescript-5.9"] as const)(
  "what changes in YAML and handlers is served (%s)",
  async (compiler) => {
    const { edit, answer, output, stop } = await develop({}, compiler);
    await expect.poll(() => answer("/hello/ada"), patience).toBe(greeting("Hello, ada"));
    edit("registry/notes.yaml", (text) => text.replace("/hello/{name}", "/hi/{name}"));
    await expect.poll(() => answer("/hi/ada"), patience).toBe(greeting("Hello, ada"));
    edit("registry/handlers/notes.ts", (text) => text.replace("Hello, ", "Hi, "));
    await expect.poll(() => answer("/hi/ada"), patience).toBe(greeting("Hi, ada"));

    edit("registry/notes.yaml", (text) => text.replace("guard: open", "gaurd: open"));
    await expect.poll(output, patience).toContain("nothing was written");
    edit("registry/handlers/notes.ts", (text) => text.replace("Hi, ", "Welcome, "));
    await expect.poll(() => output().split("nothing was written").length, patience).toBe(3);
    expect(await answer("/hi/ada")).toBe(greeting("Hi, ada"));
    edit("registry/notes.yaml", (text) => text.replace("gaurd: open", "guard: open"));
    await expect.poll(() => answer("/hi/ada"), patience).toBe(greeting("Welcome, ada"));
    await stop();
    expect(await answer("/hi/ada")).toBe("nobody");
  },
  600_000,
);

test("a type error is printed and the last good version goes on, until it is mended", async () => {
  const { edit, answer, output, stop } = await develop();
  await expect.poll(() => answer("/hello/ada"), patience).toBe(greeting("Hello, ada"));
  edit("registry/handlers/notes.ts", (text) => text.replace("greeting:", "greting:"));
  await expect.poll(output, patience).toContain("the last good server keeps running");
  expect(output()).toMatch(/registry\/handlers\/notes\.ts.*error.*TS\d+/);
  expect(await answer("/hello/ada")).toBe(greeting("Hello, ada"));
  edit("registry/handlers/notes.ts", (text) =>
    text.replace("greting:", "greeting:").replace("Hello, ", "Mended, "),
  );
  await expect.poll(() => answer("/hello/ada"), patience).toBe(greeting("Mended, ada"));
  await stop();
}, 600_000);

test("somebody answers at every moment while the server is replaced", async () => {
  const { edit, answer, stop } = await develop();
  await expect.poll(() => answer("/hello/ada"), patience).toBe(greeting("Hello, ada"));
  const seen = new Set<string>();
  const replaced = new AbortController();
  const watching = (async () => {
    while (!replaced.signal.aborted) seen.add(await answer("/livez"));
  })();
  edit("registry/handlers/notes.ts", (text) => text.replace("Hello, ", "Hi, "));
  await expect.poll(() => answer("/hello/ada"), patience).toBe(greeting("Hi, ada"));
  replaced.abort();
  await watching;
  expect([...seen].map((each) => each.slice(0, 3))).toEqual(["200"]);
  await stop();
}, 600_000);

test("a server that does not start leaves the last good one, and its stack names the line of the .ts file", async () => {
  const { edit, answer, output, stop } = await develop();
  await expect.poll(() => answer("/hello/ada"), patience).toBe(greeting("Hello, ada"));
  edit(
    "registry/handlers/notes.ts",
    (text) =>
      `${text}\ninterface Unprinted {\n  readonly lines: number;\n}\nconst broken = (): Unprinted => {\n  throw new Error("at start");\n};\nbroken();\n`,
  );
  await expect.poll(output, patience).toContain("the server does not start");
  // Interfaces leave no line behind: in the printed file it is another one.
  expect(output()).toMatch(/registry\/handlers\/notes\.ts:9:/);
  expect(output()).not.toMatch(/dist\/registry\/handlers\/notes\.js/);
  expect(await answer("/hello/ada")).toBe(greeting("Hello, ada"));
  await stop();
}, 600_000);

test("commands of the project's own compile and start it", async () => {
  const config = `export default { dev: { build: "node node_modules/typescript/bin/tsc", start: "node dist/generated/server.js" } };\n`;
  const { edit, answer, stop } = await develop({ "opwright.config.mjs": config });
  await expect.poll(() => answer("/hello/ada"), patience).toBe(greeting("Hello, ada"));
  edit("registry/handlers/notes.ts", (text) => text.replace("Hello, ", "Hi, "));
  await expect.poll(() => answer("/hello/ada"), patience).toBe(greeting("Hi, ada"));
  await stop();
  expect(await answer("/hello/ada")).toBe("nobody");
}, 600_000);
