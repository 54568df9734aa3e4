// Benches that cannot rot unseen: each is listed and can be loaded, every name that one takes from the code or from a package
// is there, and a run says what failed. `npm run test:long` runs all of them in brief.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../support/free-port.js";

const repository = new URL("../..", import.meta.url).pathname;
const folder = join(repository, "test/bench");

const execute = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  spawnSync(process.execPath, args, {
    cwd: repository,
    env: { ...process.env, ...environment },
    encoding: "utf8",
    timeout: 100_000,
  });

/** Loads every bench as a run does, in a process that then ends by itself. */
const loading = `
import { benches } from "./test/bench/benches.mjs";
const runs = {};
for (const name of benches) runs[name] = typeof (await import(\`./test/bench/\${name}.mjs\`)).run;
console.log(JSON.stringify(runs));`;

test("every bench is listed, and is loaded without doing anything yet", () => {
  const names = readdirSync(folder)
    .filter((file) => /^export async function run\(/m.test(text(file)))
    .map((file) => file.replace(/\.mjs$/, ""));
  const args = ["--conditions=unbundled", "--input-type=module", "--eval", loading];
  const { status, stdout, stderr } = execute(args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const runs: unknown = JSON.parse(stdout);
  expect(runs).toEqual(Object.fromEntries(names.map((name) => [name, "function"])));
});

test("everything that benches and their servers import and call exists", () => {
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  const { stdout } = execute([compiler, "-p", "test/bench", "--pretty", "false", "--listFiles"]);
  // That nothing is reported says something only if it was looked at.
  expect(stdout).toContain("test/bench/realtime/opwright.mjs");
  expect(stdout).toContain("dist/service/generated/service.js");
  // The compiled service has lost the types that its own code would need.
  expect(stdout.split("\n").filter((line) => /^test\/bench\/.*: error /.test(line))).toEqual([]);
}, 120_000);

test("benches that fail are named, and do not keep others from running", async () => {
  const nobody = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
  const { status, stdout, stderr } = execute(["test/bench/run.mjs", "objects", "search"], {
    BENCH_BRIEF: "1",
    BENCH_ROWS: "100",
    BENCH_POSTGRES: nobody,
  });
  expect(status).toBe(1);
  expect(stdout).toContain("## search");
  expect(
    stderr.match(/no PostgreSQL answers at 127\.0\.0\.1:\d+: set BENCH_POSTGRES/g),
  ).toHaveLength(2);
  expect(stderr).toContain("FAILED, or not at an end in time: objects; search");
}, 120_000);

test("a name that is no bench is refused with those that are", () => {
  const { status, stderr } = execute(["test/bench/run.mjs", "speed"]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^there is no bench speed; there are backup, .*, traces\n$/);
});

function text(file: string): string {
  return file.endsWith(".mjs") ? readFileSync(join(folder, file), "utf8") : "";
}
