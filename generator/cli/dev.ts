// opwright dev: watches registry, handlers and hooks; generates, compiles and restarts on each change.
import { spawn, type ChildProcess } from "node:child_process";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { watch } from "chokidar";
import { projectEntry } from "../load/project-file.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { runGenerate } from "./generate.js";

/** How long a burst of changes is gathered, in milliseconds. */
const quietMillis = 80;
/** How often a group of processes is asked whether it has ended. */
const goneMillis = 20;
/** Looks before it is left alone: where nobody collects what has ended, it seems to be there for ever. */
const mostLooks = 1_000;

/** Runs until SIGINT or SIGTERM. A change with findings keeps the last good server running. */
export async function runDev(configured: ConfiguredProject, terminal: Terminal): Promise<ExitCode> {
  const { project, config } = configured;
  const build = config.dev?.build ?? "npx tsc";
  const start = config.dev?.start ?? "node dist/generated/server.js";
  let server: ChildProcess | undefined;

  const cycle = async (): Promise<void> => {
    if ((await runGenerate(configured, {}, terminal)) !== exitCodes.fine) return;
    if ((await shell(build, project.root)) !== 0) {
      terminal.note("the project does not compile; the last good server keeps running");
      return;
    }
    await stopped(server);
    server = spawn(start, { cwd: project.root, shell: true, stdio: "inherit", detached: true });
    terminal.note("restarted");
  };

  const watcher = watch(join(project.root, project.paths.registry), {
    ignoreInitial: true,
    // A link may lead to the whole disk.
    ignored: (path) => projectEntry(project.root, relative(project.root, path)).kind === "refused",
  });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = cycle();
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(cycle, cycle);
    }, quietMillis);
  });
  terminal.note(`watching ${project.paths.registry}/`);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
  clearTimeout(timer);
  await watcher.close();
  await running.catch(() => undefined);
  await stopped(server);
  return exitCodes.fine;
}

function shell(command: string, cwd: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, { cwd, shell: true, stdio: "inherit" });
    child.on("exit", (code) => resolve(code ?? 1));
    child.on("error", () => resolve(1));
  });
}

/** Ends a server and all that its shell started, which may outlive the shell. */
async function stopped(server: ChildProcess | undefined): Promise<void> {
  if (server?.pid === undefined) return;
  let isLeft = isThere(-server.pid, "SIGTERM");
  for (let looks = 0; isLeft && looks < mostLooks; looks += 1) {
    await sleep(goneMillis);
    isLeft = isThere(-server.pid, 0);
  }
}

/** Sends a signal to a group of processes; says whether there was one. */
function isThere(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(group, signal);
  } catch {
    return false;
  }
}
