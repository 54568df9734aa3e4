// What `npm start`, `npm test` and CI have in common: dependencies, build, generated folder, compiled service.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs a command in the repository and ends this process with its exit code where it fails. */
export function run(command, args, environment = {}) {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...environment },
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** Installs what is missing. */
export function install() {
  if (!existsSync(`${root}/node_modules/.package-lock.json`))
    run("npm", ["ci", "--no-audit", "--no-fund"]);
}

/** Compiles the package: generator and runtime to dist/. */
export function build() {
  run("npx", ["tsc", "-p", "tsconfig.build.json"]);
}

/** Compiles the reference service to dist/service/. */
export function buildService() {
  run("npx", ["tsc", "-p", "tsconfig.service.json"]);
}
