// Hosts of a lab on one machine: network namespaces whose cables meet in a bridge. Pulling a cable is a partition.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { openSync } from "node:fs";

export interface Host {
  readonly address: string;
  /** Starts a program there, as an account; what it prints goes to a file. */
  spawn(account: string, log: string, command: readonly string[]): ChildProcess;
  /** Runs a program there to its end; returns what it prints. */
  run(...command: readonly string[]): string;
  /** Sends a signal to all processes there whose command line has a text. */
  signal(signal: "STOP" | "CONT" | "KILL", having?: string): void;
  /** Takes the host off the network, or connects it again. */
  pullCable(): void;
  plugIn(): void;
}

export interface Network {
  /** The address of this machine in it. */
  readonly address: string;
  readonly hosts: readonly Host[];
  remove(): void;
}

const prefix = "owha";
const subnet = "10.231.77";

const ip = (...args: readonly string[]): void => void execFileSync("ip", args, { stdio: "pipe" });

const quietly = (...args: readonly string[]): void => {
  try {
    ip(...args);
  } catch {
    // It isn't there.
  }
};

/** Makes the network with so many hosts, after one that an earlier run has left. Needs root. */
export function makeNetwork(count: number): Network {
  const bridge = `${prefix}br`;
  const names = Array.from({ length: count }, (_none, at) => `${prefix}${at + 1}`);
  const remove = (): void => {
    for (const name of names) {
      killAll(name);
      quietly("netns", "del", name);
      quietly("link", "del", `${name}v`);
    }
    quietly("link", "del", bridge);
  };
  remove();
  ip("link", "add", bridge, "type", "bridge");
  ip("addr", "add", `${subnet}.1/24`, "dev", bridge);
  ip("link", "set", bridge, "up");
  const hosts = names.map((name, at) => makeHost(name, bridge, `${subnet}.${11 + at}`));
  return { address: `${subnet}.1`, hosts, remove };
}

function makeHost(name: string, bridge: string, address: string): Host {
  const cable = `${name}v`;
  ip("netns", "add", name);
  ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name);
  ip("link", "set", cable, "master", bridge, "up");
  ip("-n", name, "addr", "add", `${address}/24`, "dev", "eth0");
  ip("-n", name, "link", "set", "eth0", "up");
  ip("-n", name, "link", "set", "lo", "up");
  return {
    address,
    spawn(account, log, command) {
      const out = openSync(log, "a");
      const as = ["setpriv", `--reuid=${account}`, `--regid=${account}`, "--clear-groups"];
      const args = ["netns", "exec", name, ...as, ...command];
      return spawn("ip", args, { stdio: ["ignore", out, out], cwd: "/tmp" });
    },
    run: (...command) =>
      execFileSync("ip", ["netns", "exec", name, ...command], { encoding: "utf8", stdio: "pipe" }),
    signal(signal, having = "") {
      for (const pid of processesIn(name))
        if (commandOf(pid).includes(having)) trySignal(pid, signal);
    },
    pullCable: () => ip("link", "set", cable, "down"),
    plugIn: () => ip("link", "set", cable, "up"),
  };
}

function processesIn(name: string): readonly string[] {
  try {
    const told = execFileSync("ip", ["netns", "pids", name], { encoding: "utf8", stdio: "pipe" });
    return told.split(/\s+/).filter((pid) => pid !== "");
  } catch {
    return [];
  }
}

function commandOf(pid: string): string {
  try {
    return execFileSync("ps", ["-o", "args=", "-p", pid], { encoding: "utf8", stdio: "pipe" });
  } catch {
    return "";
  }
}

function trySignal(pid: string, signal: string): void {
  try {
    process.kill(Number(pid), `SIG${signal}`);
  } catch {
    // It has just ended.
  }
}

/** Ends all that runs in a namespace, also what is frozen. */
function killAll(name: string): void {
  for (const pid of processesIn(name)) trySignal(pid, "KILL");
}
