// What `npm start`, `npm test` and CI have in common: dependencies, build, generated folder, compiled service. Each step is
// skipped where nothing that it reads has changed.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";
import { missingPackages } from "./installed.mjs";
import { precompileTemplates } from "./precompile.mjs";
import { makeOnce } from "./stamps.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));

const forPackage = [
  "package-lock.json",
  "tsconfig.base.json",
  "tsconfig.build.json",
  "generator",
  "pages",
  "runtime",
  "scripts/bundle.mjs",
  "scripts/precompile.mjs",
  "templates",
];
const forService = [...forPackage, "tsconfig.service.json", "registry", "generated"];

const ofPackage = {
  step: "package",
  inputs: forPackage,
  outputs: ["dist/cli", "dist/generator", "dist/pages", "dist/runtime", "dist/served"],
};
const ofService = { step: "service", inputs: forService, outputs: ["dist/service"] };
const ofGenerated = {
  step: "generated",
  inputs: [...forService, "client", "opwright.config.mjs"],
  outputs: ["generated"],
};

/** Runs a command in the repository and ends this process with its exit code where it fails. */
export function run(command, args, environment = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...environment },
    shell: process.platform === "win32",
  });
  if (error !== undefined) process.stderr.write(`${error.message}\n`);
  if (status !== 0) process.exit(status ?? 1);
}

/** Installs everything that development needs, where something is missing. */
export function install() {
  if (missingPackages(root, () => true).length > 0) run("npm", ["ci"]);
}

/** Installs what running needs (see scripts/start/package.json), where something of it is missing. */
export function installToRun() {
  const isForRunning = ({ dev, devOptional }) => !dev && !devOptional;
  if (missingPackages(root, isForRunning).length > 0) run("npm", ["ci", "--omit=dev"]);
}

/** Compiles the package with its declarations to dist/: generator and runtime, and both once more as bundles. */
export function build() {
  makeOnce(root, ofPackage, () => {
    compile("tsconfig.build.json");
    precompileTemplates(root);
    bundle(root);
  });
}

/** Compiles the reference service to dist/service/. */
export function buildService() {
  makeOnce(root, ofService, () => compile("tsconfig.service.json"));
}

/** Compiles and generates without checking types, which would need packages that only development has. */
export function buildToRun() {
  const unchecked = ["--noCheck", "--declaration", "false"];
  makeOnce(root, { ...ofPackage, isFull: false }, () => {
    compile("tsconfig.build.json", ...unchecked);
    precompileTemplates(root);
    bundle(root, { isFull: false });
  });
  makeOnce(root, ofGenerated, () => run("node", ["bin/opwright.mjs", "generate"]));
  makeOnce(root, { ...ofService, isFull: false }, () =>
    compile("tsconfig.service.json", ...unchecked),
  );
}

function compile(project, ...options) {
  run("node", ["node_modules/typescript/bin/tsc", "-p", project, ...options]);
}
