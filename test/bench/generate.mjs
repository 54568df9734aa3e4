// How long and in how much memory a registry of 1 000 operations is generated and checked.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { registryOf } from "./registry-of.mjs";
import { bin, measure, project, table } from "./tools.mjs";

export async function run() {
  const { root, remove } = project(registryOf(1_000));
  const forget = () => {
    rmSync(join(root, "generated"), { recursive: true, force: true });
    rmSync(join(root, "node_modules"), { recursive: true, force: true });
  };
  const cold = measure(root, [bin, "generate"], 5, forget);
  const checkCold = measure(root, [bin, "check"], 5);
  mkdirSync(join(root, "node_modules"));
  measure(root, [bin, "generate"], 1);
  const warm = measure(root, [bin, "generate"], 5);
  const checkWarm = measure(root, [bin, "check"], 5);
  const routes = join(root, "generated/routes");
  const lines = readdirSync(routes).reduce(
    (sum, name) => sum + readFileSync(join(routes, name), "utf8").split("\n").length,
    0,
  );
  const cells = ({ seconds, megabytes }) => [
    `${seconds.toFixed(2)} s`,
    `${megabytes.toFixed(0)} MB`,
  ];
  table(
    ["1 000 operations", "time", "memory", "bar"],
    [
      ["generate, everything new, no cache", ...cells(cold), "1.5 s, 250 MB"],
      ["check, nothing changed, no cache", ...cells(checkCold), ""],
      ["generate, nothing changed", ...cells(warm), ""],
      ["check, nothing changed", ...cells(checkWarm), "0.5 s"],
    ],
  );
  const folder = join(root, "generated");
  const documents = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const bytes = documents.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  process.stdout.write(`\n${(bytes / 1_000_000).toFixed(1)} MB of JSON documents (bar: 6)\n`);
  process.stdout.write(
    `\n${(lines / 1_000).toFixed(1)} lines of routes an operation (bar: 15 to 25)\n`,
  );
  remove();
}
