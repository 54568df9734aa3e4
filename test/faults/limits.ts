// Limits that the system sets for a running process: descriptors, and bytes of a file.
import { spawnSync, type ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";

/** Leaves a process so many descriptors more than it has open now. Returns what lifts the limit. */
export function limitDescriptors(child: ChildProcess, more: number): () => void {
  const before = softLimit(child, "nofile");
  const open = readdirSync(`/proc/${child.pid}/fd`).length;
  setLimit(child, "nofile", String(open + more));
  return () => setLimit(child, "nofile", before);
}

/**
 * Has every write of a process to a regular file fail (EFBIG, which SQLite reports as an I/O error). Returns what lifts it.
 * Any process may do that to another one of its user's: a disk that cannot be written needs no rights.
 */
export function refuseFileWrites(child: ChildProcess): () => void {
  setLimit(child, "fsize", "0");
  return () => setLimit(child, "fsize", "unlimited");
}

function softLimit(child: ChildProcess, name: string): string {
  return prlimit(["--pid", String(child.pid), `--${name}`, "--noheadings", "--output=SOFT"]).trim();
}

/** Sets the soft limit alone, so that it can be lifted again. */
function setLimit(child: ChildProcess, name: string, value: string): void {
  prlimit(["--pid", String(child.pid), `--${name}=${value}:`]);
}

/** Of util-linux, on each Debian. */
function prlimit(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("prlimit", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`prlimit ${args.join(" ")}: ${stderr}`);
  return stdout;
}
