// What `opwright init` writes for containers, as far as it can be tried without an engine for them: the steps of the image in
// an order of their own, its command, its health check and its stop, and the steps that compose.yaml puts before the start.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { engines, type FreshDatabase } from "../support/engines.js";
import { freePort } from "../support/free-port.js";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;
const page = readFileSync(join(repository, "docs/deploying.md"), "utf8");
const engine =
  engines.find(({ name, isAvailable }) => name === "postgres" && isAvailable) ?? engines[0];

let root = "";
let remove = (): void => undefined;
let database: FreshDatabase;
beforeAll(async () => {
  ({ root, remove } = writeProject({}));
  if (engine === undefined) throw new Error("there is no engine");
  database = await engine.create();
  expect((await cli(root, "init", ".", "--yes")).code).toBe(0);
  expect((await cli(root, "generate")).code).toBe(0);
  mkdirSync(join(root, "node_modules/@types"), { recursive: true });
  symlinkSync(repository, join(root, "node_modules/opwright"));
  for (const name of ["@types/node", "express", "pg", "typescript"])
    symlinkSync(join(repository, "node_modules", name), join(root, "node_modules", name));
  // What npm would do over the network is done; its scripts run.
  mkdirSync(join(root, "tools"));
  const tool = (name: string, text: string): void => {
    writeFileSync(join(root, "tools", name), `#!/bin/sh\nset -e\n${text}\n`);
    chmodSync(join(root, "tools", name), 0o755);
  };
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  tool("npm", `case "$1" in ci|prune) exit 0 ;; run) "${process.execPath}" "${tsc}" ;; esac`);
  tool("npx", `shift; exec "${process.execPath}" "${repository}bin/opwright.mjs" "$@"`);
});
afterAll(async () => {
  await database.drop();
  remove();
});

/** The instructions of the Containerfile, by what each begins with. */
function instructions(name: string): readonly string[] {
  const text = readFileSync(join(root, "Containerfile"), "utf8").replaceAll("\\\n", "");
  return [...text.matchAll(new RegExp(`^${name} +(.*)$`, "gm"))].map(([, rest = ""]) => rest);
}

/** A command that is given as a list. */
function listed(instruction: string | undefined): readonly string[] {
  return JSON.parse(instruction?.slice(instruction.indexOf("[")) ?? "[]") as readonly string[];
}

const path = (): string => `${join(root, "tools")}:${process.env["PATH"]}`;

test("the page shows the files as they are written", () => {
  for (const [language, name] of [
    ["dockerfile", "Containerfile"],
    ["yml", "compose.yaml"],
  ] as const) {
    const text = readFileSync(join(root, name), "utf8");
    expect(page).toContain(`\`\`\`${language}\n# ${name}\n${text}\`\`\``);
  }
});

test("the steps of the image leave what it copies, and secrets are in neither git nor the image", () => {
  const [workdir, mkdir] = [instructions("WORKDIR"), instructions("RUN").at(-1)];
  expect([workdir, mkdir]).toEqual([["/app", "/app"], "mkdir /data && chown node:node /data"]);
  for (const step of instructions("RUN").slice(0, -1)) {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", step], {
      cwd: root,
      encoding: "utf8",
      env: { PATH: path() },
    });
    expect([step, status, status === 0 ? "" : stdout + stderr]).toEqual([step, 0, ""]);
  }
  const copied = instructions("COPY").flatMap(
    (one) => /^--from=build (\/app\/\S+)/.exec(one)?.[1] ?? [],
  );
  expect(copied.length).toBe(4);
  for (const one of copied)
    expect([one, existsSync(join(root, one.slice("/app/".length)))]).toEqual([one, true]);
  expect(instructions("USER")).toEqual(["node"]);
  for (const file of [".dockerignore", ".gitignore"])
    expect(readFileSync(join(root, file), "utf8").split("\n")).toContain(".env");
});

test("compose.yaml applies migrations before the start, and the image starts, is healthy and stops", async () => {
  const compose = parse(readFileSync(join(root, "compose.yaml"), "utf8"));
  const { migrate, service } = compose.services;
  expect(migrate.depends_on).toEqual({ database: { condition: "service_healthy" } });
  expect(service.depends_on).toEqual({ migrate: { condition: "service_completed_successfully" } });
  expect(service.environment).toEqual(migrate.environment);
  const [writing = ""] = [...page.matchAll(/^```sh\n([^]*?> \.env\n)/gm)].map(
    ([, text = ""]) => text,
  );
  expect(spawnSync("sh", ["-c", writing], { cwd: root, env: { PATH: path() } }).status).toBe(0);
  const secrets = readFileSync(join(root, ".env"), "utf8").trim().split("\n");
  const port = await freePort();
  const [image = ""] = instructions("ENV");
  const env = {
    PATH: path(),
    ...Object.fromEntries(
      [...image.split(" "), ...secrets].map((one) => one.split(/=(.*)/s).slice(0, 2)),
    ),
    ...service.environment,
    // What the containers have of their own.
    DATABASE_URL: database.url,
    DATA_DIR: join(root, "data"),
    PORT: String(port),
    SETTLE_SECONDS: "0",
  };
  const run = (command: readonly string[]) => {
    const [program = "", ...args] = command;
    return spawn(program === "node" ? process.execPath : program, args, {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
  };
  const ended = (child: ReturnType<typeof run>): Promise<number | null> =>
    new Promise((resolve) => child.once("exit", resolve));
  const isHealthy = async (): Promise<boolean> =>
    (await ended(run(listed(instructions("HEALTHCHECK")[0])))) === 0;
  expect(await isHealthy()).toBe(false);
  expect(await ended(run(migrate.command))).toBe(0);
  const child = run(listed(instructions("CMD").at(-1)));
  const ending = ended(child);
  try {
    await expect.poll(isHealthy, { timeout: 30_000 }).toBe(true);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect(ready.status).toBe(200);
  } finally {
    child.kill("SIGTERM");
  }
  expect(await ending).toBe(0);
});
