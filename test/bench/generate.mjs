// How long and in how much memory a registry of 1 000 operations is generated and checked, beside openapi-typescript on a
// plain document of the same operations.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plainDocument } from "./plain-document.mjs";
import { registryOf } from "./registry-of.mjs";
import { amount, bin, installedPeers, measure, measureInTurn, project, table } from "./tools.mjs";

const [operations, many] = [amount(1_000, 30), amount(5_000, 60)];
const rounds = amount(5, 1);
const spaced = (count) => String(count).replace(/(?=000$)/, " ");

/** The command by which openapi-typescript prints the types of a plain document of as many operations. */
function peerOf(root, count) {
  const document = join(root, "plain.json");
  writeFileSync(document, JSON.stringify(plainDocument(count)));
  const cli = join(installedPeers(), "node_modules/openapi-typescript/bin/cli.js");
  return [root, [cli, document, "-o", join(root, "plain.d.ts")]];
}

export async function run() {
  const registry = registryOf(operations);
  const { root, remove } = project(registry);
  const peerCommand = peerOf(root, operations);
  // A folder of its own for each run: where files have just been deleted, ext4 takes up to half a second longer for new ones.
  const projects = [];
  const fresh = () => {
    projects.push(project(registry));
    return projects.at(-1).root;
  };
  const [peer, cold, checkCold] = measureInTurn(
    [
      () => peerCommand,
      () => [fresh(), [bin, "generate"]],
      // Where there is no node_modules, nothing is kept for the next run.
      () => [projects.at(-1).root, [bin, "check"]],
    ],
    rounds,
  );
  for (const one of projects) one.remove();
  mkdirSync(join(root, "node_modules"));
  measure(root, [bin, "generate"], 1);
  const warm = measure(root, [bin, "generate"], rounds);
  const checkWarm = measure(root, [bin, "check"], rounds);
  const large = project(registryOf(many));
  const coldLarge = measure(large.root, [bin, "generate"], 1);
  large.remove();
  const routes = join(root, "generated/routes");
  const lines = readdirSync(routes).reduce(
    (sum, name) => sum + readFileSync(join(routes, name), "utf8").split("\n").length,
    0,
  );
  const row = (name, one, bar) => [
    name,
    `${one.seconds.toFixed(2)} s`,
    (one.seconds / peer.seconds).toFixed(2),
    `${one.megabytes.toFixed(0)} MB`,
    bar,
  ];
  table(
    [`${spaced(operations)} operations`, "time", "relative to the peer", "memory", "bar"],
    [
      row("openapi-typescript, types of a plain document", peer, ""),
      row("generate into an empty folder, no cache", cold, "0.4, 200 MB"),
      row("check, nothing changed, no cache", checkCold, "0.4"),
      row("generate, nothing changed", warm, ""),
      row("check, nothing changed", checkWarm, "0.08"),
      row(`generate of ${spaced(many)} operations`, coldLarge, `6 times ${spaced(operations)}`),
    ],
  );
  const folder = join(root, "generated");
  const documents = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const bytes = documents.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  process.stdout.write(`\n${(bytes / 1_000_000).toFixed(1)} MB of JSON documents (bar: 6)\n`);
  process.stdout.write(
    `\n${(lines / operations).toFixed(1)} lines of routes an operation (bar: 15 to 25)\n`,
  );
  remove();
}
