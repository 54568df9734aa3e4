// Whether the disks have room that a service keeps its files on.
import { existsSync, statfsSync, statSync } from "node:fs";
import { notice, ok, tellBytes, wrong, type Symptom } from "../../ports/symptom.js";

/** What there is to say of the disks of these folders, each disk once. */
export function examineDisks(folders: readonly string[]): readonly Symptom[] {
  const there = folders.filter((folder) => existsSync(folder));
  // The first folder of a disk stands for it.
  const disks = new Map(there.toReversed().map((folder) => [statSync(folder).dev, folder]));
  return [...disks.values()].map(ofDisk);
}

function ofDisk(folder: string): Symptom {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const [free, share] = [bavail * bsize, bavail / Math.max(1, blocks)];
  const text = `${tellBytes(free)} are free (${Math.round(share * 100)} %) for ${folder}`;
  if (free < 100_000_000) return wrong("disk", `${text}: writes fail once it is full: make room`);
  return share < 0.1 && free < 10_000_000_000
    ? notice("disk", `${text}: make room`)
    : ok("disk", text);
}
