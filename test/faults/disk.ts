// Disks that fail: one that can be filled, and calls of the system that answer EIO.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { refuseFileWrites } from "./limits.js";

export interface Disk {
  readonly folder: string;
  /** Whether this is a real disk; where mounting is not allowed, files of the process cannot grow instead (EFBIG). */
  readonly isReal: boolean;
  /** Leaves no byte on it. Returns what makes room again. */
  fill(child: ChildProcess): () => void;
  remove(): void;
}

/** A disk of a few megabytes in memory, which root may mount. */
export function newDisk(): Disk {
  const folder = mkdtempSync(join(tmpdir(), "opwright-disk-"));
  const mount = ["-t", "tmpfs", "-o", "size=24m,mode=777", "tmpfs", folder];
  const isReal = spawnSync("mount", mount).status === 0;
  if (!isReal)
    process.stderr.write(
      "mounting is not allowed here: writes are refused in place of a full disk\n",
    );
  const filler = join(folder, "filler");
  return {
    folder,
    isReal,
    fill(child) {
      if (!isReal) return refuseFileWrites(child);
      for (let size = 1024 * 1024; size >= 1; size /= 4) fillBy(filler, Buffer.alloc(size));
      return () => rmSync(filler);
    },
    remove() {
      if (isReal) spawnSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function fillBy(path: string, portion: Buffer): void {
  try {
    for (;;) appendFileSync(path, portion);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}

/**
 * Has some calls of a running process on some files answer EIO. Returns what ends that. Where tracing is not allowed, every
 * write to a file is refused instead, which SQLite reports in the same way.
 */
export async function answerEio(
  child: ChildProcess,
  calls: readonly string[],
  files: readonly string[],
): Promise<() => Promise<void>> {
  const end = await injectEio(child.pid, calls, files);
  if (end !== undefined) return end;
  process.stderr.write("writes are refused instead\n");
  const lift = refuseFileWrites(child);
  return async () => lift();
}

/** The same by `strace`, for a process of any kind; undefined, with a word on stderr, where tracing is not allowed. */
export async function injectEio(
  pid: number | undefined,
  calls: readonly string[],
  files: readonly string[],
): Promise<(() => Promise<void>) | undefined> {
  const injected = `inject=${calls.join(",")}:error=EIO`;
  const paths = files.flatMap((path) => ["-P", path]);
  const tracer = spawn(
    "strace",
    ["-f", "-o", "/dev/null", "-p", String(pid), "-e", injected, ...paths],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  tracer.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  tracer.on("error", (error) => (said += error.message));
  const ended = once(tracer, "close").catch(() => undefined);
  for (let attempt = 0; attempt < 100 && !said.includes("attached"); attempt += 1) {
    if (tracer.exitCode !== null || tracer.pid === undefined) {
      process.stderr.write(`strace cannot trace here: ${said}\n`);
      return undefined;
    }
    await sleep(50);
  }
  return async () => {
    tracer.kill("SIGINT");
    await ended;
  };
}
