// Runs benches, each in a process of its own and to its end, also where another one has failed: what `npm run bench` starts,
// with names as arguments.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { benches } from "./benches.mjs";
import { patienceMillis } from "./tools.mjs";

const names = process.argv.slice(2);
const unknown = names.find((name) => !benches.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`there is no bench ${unknown}; there are ${benches.join(", ")}\n`);
  process.exit(2);
}
const failed = [];
const missing = new Set();
for (const name of names.length > 0 ? names : benches) {
  process.stdout.write(`\n## ${name}\n\n`);
  const started = performance.now();
  const child = fork(fileURLToPath(new URL("one.mjs", import.meta.url)), [name], {
    timeout: patienceMillis,
    // What benches import from dist/runtime/ has to be what the service imports; what they fork inherits this.
    execArgv: [...process.execArgv, "--conditions=unbundled"],
  });
  child.on("message", (/** @type {string[]} */ left) => {
    for (const what of left) missing.add(what);
  });
  const code = await new Promise((resolve) => child.on("exit", resolve));
  if (code !== 0) failed.push(name);
  process.stderr.write(`${name}: ${((performance.now() - started) / 1_000).toFixed(0)} s\n`);
}
warn("NOT MEASURED", missing);
warn("FAILED, or not at an end in time", new Set(failed));
process.exitCode = failed.length > 0 ? 1 : 0;

/** Says what is wrong with a run where whoever reads its end cannot miss it. */
function warn(about, what) {
  const rule = "!".repeat(80);
  if (what.size > 0)
    process.stderr.write(`\n${rule}\n${about}: ${[...what].join("; ")}\n${rule}\n`);
}
