// The service of opwright dev: replaced on each change, by default without a gap in which nobody
// answers.
import { spawn, type ChildProcess } from "node:child_process";
import cluster, { type Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";

/** The process, or processes, of a service. */
export interface DevServer {
  /** Starts the service again; resolves with whether the new one took over. */
  replace(): Promise<boolean>;
  /** Ends all that was started. */
  stop(): Promise<void>;
}

/**
 * A service whose entry is a compiled file. The listener belongs to this process (node:cluster), so
 * that the old server answers until the new one is ready, and continues if the new one doesn't
 * start. A server that is replaced settles for a moment, or a request on a connection that it
 * closes just then would find nobody.
 */
export function compiledServer(entry: string, root: string): DevServer {
  const running = new Set<Worker>();
  let current: Worker | undefined;
  // Servers accept for themselves: this process is busy with generating.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: entry,
    args: [],
    cwd: root,
    execArgv: ["--enable-source-maps"],
  });
  return {
    async replace() {
      const next = cluster.fork({ SETTLE_SECONDS: process.env["SETTLE_SECONDS"] ?? "0.2" });
      running.add(next);
      next.once("exit", () => running.delete(next));
      const isReady = await new Promise<boolean>((resolve) => {
        next.once("listening", () => resolve(true));
        next.once("exit", () => resolve(false));
      });
      if (!isReady) return false;
      current?.process.kill("SIGTERM");
      current = next;
      return true;
    },
    async stop() {
      await Promise.all(
        [...running].map(async (worker) => {
          const ended = new Promise((resolve) => worker.once("exit", resolve));
          worker.process.kill("SIGTERM");
          await ended;
        }),
      );
    },
  };
}

/** How often to check whether a group of processes has ended, in milliseconds. */
const goneMillis = 20;
/**
 * Checks before giving up: if nobody collects ended processes, the group seems to exist forever.
 */
const mostLooks = 1_000;

/**
 * A service that a command of the project's own starts. The old one ends first, because both use
 * the same port.
 */
export function commandServer(command: string, root: string): DevServer {
  let current: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (current?.pid === undefined) return;
    // What its shell started may outlive the shell.
    let isLeft = isThere(-current.pid, "SIGTERM");
    for (let looks = 0; isLeft && looks < mostLooks; looks += 1) {
      await sleep(goneMillis);
      isLeft = isThere(-current.pid, 0);
    }
  };
  return {
    async replace() {
      await stop();
      current = spawn(command, { cwd: root, shell: true, stdio: "inherit", detached: true });
      return true;
    },
    stop,
  };
}

/** Sends a signal to a group of processes; says whether there was one. */
function isThere(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(group, signal);
  } catch {
    return false;
  }
}
