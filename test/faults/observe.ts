// What a process takes: memory, time of the processor, descriptors.
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Ticks of the kernel's clock a second, on each Linux that we know of. */
const ticksPerSecond = 100;

export function residentMebibytes({ pid }: ChildProcess): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1] ?? 0) / 1024;
}

export function openDescriptors({ pid }: ChildProcess): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Seconds of processor that a process has taken so far. */
export function processorSeconds({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Behind the name, which may have spaces: user and system time are the 12th and 13th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/**
 * Seconds that the main thread of a process has been ready to run and had no core: what others on the machine took from it.
 * 0 where the kernel doesn't count it.
 */
export function waitedSeconds({ pid }: ChildProcess): number {
  const path = `/proc/${pid}/schedstat`;
  const [, nanoseconds = "0"] = existsSync(path) ? readFileSync(path, "utf8").split(" ") : [];
  return Number(nanoseconds) / 1e9;
}

/** The share of one core that a process takes in a second. */
export async function busyShare(child: ChildProcess): Promise<number> {
  const [before, began] = [processorSeconds(child), performance.now()];
  await sleep(1_000);
  return ((processorSeconds(child) - before) * 1_000) / (performance.now() - began);
}

/** The largest resident memory while `work` runs. */
export async function peakMebibytes(child: ChildProcess, work: Promise<unknown>): Promise<number> {
  const samples: number[] = [];
  const sampling = setInterval(() => samples.push(residentMebibytes(child)), 50);
  try {
    await work;
  } finally {
    clearInterval(sampling);
  }
  return Math.max(...samples, residentMebibytes(child));
}
