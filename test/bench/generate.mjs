// How long and in how much memory a registry of 1 000 operations is generated and checked, beside openapi-typescript on a
// plain document of the same operations.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plainDocument } from "./plain-document.mjs";
import { perDocument, registryOf } from "./registry-of.mjs";
import { amount, bin, installedPeers, measure, measureInTurn, project, table } from "./tools.mjs";

const [operations, many] = [amount(1_000, 30), amount(5_000, 60)];
const documents = amount(100, 3);
const rounds = amount(5, 1);
const spaced = (count) => String(count).replace(/(?=000$)/, " ");

/** The command by which openapi-typescript prints the types of a plain document of as many operations. */
function peerOf(root, count, share) {
  const document = join(root, "plain.json");
  writeFileSync(document, JSON.stringify(plainDocument(count, share)));
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
  const row = (name, one, bar) => rowOf(name, one, peer, bar);
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
  process.stdout.write(`\n${megabytesOfJson(folder)} MB of JSON documents (bar: 6.1)\n`);
  process.stdout.write(
    `\n${(lines / operations).toFixed(1)} lines of routes an operation (bar: 15 to 25)\n`,
  );
  remove();
  documentsAlone();
}

/** A registry that has nothing but documents: a page of schemas for each, in every language. */
function documentsAlone() {
  const count = documents * perDocument;
  const registry = registryOf(count, 1);
  const { root, remove } = project(registry);
  const peerCommand = peerOf(root, count, 1);
  const projects = [];
  const fresh = () => {
    projects.push(project(registry));
    return projects.at(-1).root;
  };
  const [peer, cold] = measureInTurn(
    [() => peerCommand, () => [fresh(), [bin, "generate"]]],
    rounds,
  );
  process.stdout.write("\n");
  table(
    [
      `${documents} documents, ${spaced(count)} operations`,
      "time",
      "relative to the peer",
      "memory",
      "bar",
    ],
    [
      rowOf("openapi-typescript, types of a plain document", peer, peer, ""),
      rowOf("generate into an empty folder, no cache", cold, peer, "0.45"),
    ],
  );
  const bytes = megabytesOfJson(join(projects.at(-1).root, "generated"));
  process.stdout.write(`\n${bytes} MB of JSON documents (bar: 6)\n`);
  for (const one of projects) one.remove();
  remove();
}

function rowOf(name, one, peer, bar) {
  return [
    name,
    `${one.seconds.toFixed(2)} s`,
    (one.seconds / peer.seconds).toFixed(2),
    `${one.megabytes.toFixed(0)} MB`,
    bar,
  ];
}

/** The JSON documents in a generated folder, together. */
function megabytesOfJson(folder) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return (bytes / 1_000_000).toFixed(1);
}
