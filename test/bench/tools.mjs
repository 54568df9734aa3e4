// What benches share: projects, processes with their time and memory, tables.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../..", import.meta.url));
export const bin = join(repository, "bin/opwright.mjs");

const isBrief = process.env.BENCH_BRIEF === "1";

/** How much a bench does: as much as a figure needs, or as little as shows that it runs, with `BENCH_BRIEF=1`. */
export const amount = (usual, brief) => (isBrief ? brief : usual);

/** What hangs, or is not brief any more, fails as well. */
export const patienceMillis = amount(undefined, 180_000);

/** What could not be measured here, which whoever reads the figures has to know. */
export const missing = new Set();

/** Says that something is left out. The run says it once more at its end. */
export function leaveOut(what) {
  missing.add(what);
  process.stdout.write(`NOT MEASURED: ${what}\n\n`);
}

const atExit = [];
process.on("exit", () => {
  // What runs in a folder ends before the folder does.
  for (const end of atExit.toReversed()) end();
});

/** Has a process end with this one at the latest, also where a bench fails. */
export function ending(child) {
  atExit.push(() => child.kill("SIGKILL"));
  return child;
}

/** Runs a program to its end; returns what it says. Throws with all of that where it fails. */
export function execute(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    timeout: patienceMillis,
    ...options,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** The folder of a bench's peers, installed without scripts beside nothing that is ours. */
export function installedPeers(bench = "client") {
  const peers = join(repository, `node_modules/.cache/opwright-bench-${bench}`);
  const wanted = readFileSync(join(repository, `test/bench/${bench}/package-lock.json`), "utf8");
  const installed = join(peers, "installed");
  if (existsSync(installed) && readFileSync(installed, "utf8") === wanted) return peers;
  cpSync(join(repository, `test/bench/${bench}`), peers, { recursive: true });
  execute("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: peers });
  writeFileSync(installed, wanted);
  return peers;
}

/** A project with these files in a temporary folder, opwright linked into it. */
export function project(files) {
  const root = mkdtempSync(join(tmpdir(), "opwright-bench-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  const remove = () => rmSync(root, { recursive: true, force: true });
  atExit.push(remove);
  return { root, remove };
}

/** Links opwright and compiles the project to dist/. */
export function compile(root) {
  mkdirSync(join(root, "node_modules"), { recursive: true });
  symlinkSync(repository, join(root, "node_modules/opwright"));
  symlinkSync(join(repository, "node_modules/@types"), join(root, "node_modules/@types"));
  const { compilerOptions } = JSON.parse(
    readFileSync(join(repository, "tsconfig.base.json"), "utf8"),
  );
  writeFileSync(
    join(root, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: { ...compilerOptions, rootDir: ".", outDir: "dist" },
      include: ["registry", "generated"],
    }),
  );
  execute(process.execPath, [join(repository, "node_modules/typescript/bin/tsc"), "-p", root]);
}

/** Runs a command to its end: seconds on the clock and peak memory in MB, the least of `rounds`. */
export function measure(cwd, args, rounds) {
  return least(Array.from({ length: rounds }, () => measureOnce(cwd, args)));
}

/** The same of several commands that take turns, so that what else the machine does slows all of them. */
export function measureInTurn(commands, rounds) {
  const results = commands.map(() => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [index, command] of commands.entries())
      results[index].push(measureOnce(...command()));
  return results.map(least);
}

function least(results) {
  return {
    seconds: Math.min(...results.map(({ seconds }) => seconds)),
    megabytes: Math.min(...results.map(({ megabytes }) => megabytes)),
  };
}

function measureOnce(cwd, args) {
  const reporter =
    "process.on('exit', () => process.stderr.write('\\nPEAK ' + process.resourceUsage().maxRSS));";
  const started = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(reporter)}`, ...args],
    { cwd, encoding: "utf8" },
  );
  const seconds = (performance.now() - started) / 1000;
  if (status !== 0) throw new Error(stderr);
  return { seconds, megabytes: Number(/PEAK (\d+)/.exec(stderr)?.[1]) / 1024 };
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a server process; resolves when `url` answers, with the milliseconds that it took. */
export async function serve(args, url, options) {
  const started = performance.now();
  const child = ending(
    spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"], ...options }),
  );
  for (;;) {
    try {
      await fetch(url);
      break;
    } catch {
      if (child.exitCode !== null)
        throw new Error(`${args.join(" ")} ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  const millis = performance.now() - started;
  return {
    millis,
    pid: child.pid,
    megabytes: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024,
    stop: () => new Promise((resolve) => child.on("exit", resolve).kill("SIGKILL")),
  };
}

/** CPU of a process and its children, in seconds. */
export function cpuSeconds(pid) {
  const own = (id) => {
    try {
      const [, , , , , , , , , , , user, system] = readFileSync(`/proc/${id}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ");
      return (Number(user) + Number(system)) / 100;
    } catch {
      return 0;
    }
  };
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
  return [pid, ...children].reduce((sum, id) => sum + own(id), 0);
}

/** The value in the middle; the higher one of two. */
export function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

/** Prints rows as a Markdown table. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  process.stdout.write(line(head) + line(head.map(() => "---")) + rows.map(line).join(""));
}

const warmMillis = amount(1_000, 20);
const measuredMillis = amount(2_000, 100);
const leastTurns = amount(60, 3);

/**
 * Milliseconds of each of both, turn by turn: the median, so that neither gets the quieter moments. Both have run for a while
 * before, as in a process that serves. `atOnce` says how many are under way together; each gets the number of its place.
 */
export async function together(one, other, atOnce = 1) {
  const times = [[], []];
  const turn = async () => {
    for (const [index, work] of [one, other].entries()) {
      const started = performance.now();
      await Promise.all(Array.from({ length: atOnce }, (_none, place) => work(place)));
      times[index].push((performance.now() - started) / atOnce);
    }
  };
  for (const end = performance.now() + warmMillis; performance.now() < end;) await turn();
  for (const all of times) all.length = 0;
  const end = performance.now() + measuredMillis;
  while (times[0].length < leastTurns || performance.now() < end) await turn();
  return times.map(median);
}

/** How many callers a service has at once, in the second part of `compared`. */
export const callers = 8;

/** The request that an operation's input makes of a body, as its route has it made. */
export function parsed(input, body) {
  return input.reading.recall(input.body.check.parse(body));
}

/** Cells of a table: milliseconds by hand and ours and their ratio, one at a time, and the same for each of several callers at once. */
export async function compared(theirs, ours) {
  const cells = [];
  for (const atOnce of [1, callers]) {
    const [byThem, byUs] = await together(theirs, ours, atOnce);
    cells.push(byThem.toFixed(2), byUs.toFixed(2), (byUs / byThem).toFixed(2));
  }
  return cells;
}
