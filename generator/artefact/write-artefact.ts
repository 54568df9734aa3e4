// Writing an artefact: as a whole or not at all, and never over what somebody else wrote.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { basename, dirname, join, relative, sep } from "node:path";
import { ArtefactFault } from "./fault.js";
import { artefactMark } from "./manifests.js";
import type { ArtefactFiles } from "./parts.js";

/** How large an artefact is, in bytes. */
export interface ArtefactSize {
  readonly total: number;
  /** What of it is native code, for one platform. */
  readonly native: number;
}

/** Lists each file of an artefact with its hash, as `sha256sum -c` reads it. */
const sumsName = "SHA256SUMS";

/** Throws `ArtefactFault` if a folder has something that no build wrote. */
export function refuseOthers(folder: string): void {
  if (!existsSync(folder)) return;
  if (statSync(folder).isDirectory() && readdirSync(folder).length === 0) return;
  if (!isArtefact(folder))
    throw new ArtefactFault(
      `${folder} is there and is no artefact: remove it, or name another folder`,
    );
  const [other] = othersIn(folder);
  if (other !== undefined)
    throw new ArtefactFault(
      `${folder} has ${other}, which no build wrote: move it away (DATA_DIR says where data goes)`,
    );
}

function isArtefact(folder: string): boolean {
  const manifest = join(folder, "package.json");
  return existsSync(manifest) && readFileSync(manifest, "utf8").includes(artefactMark);
}

/** Files in an artefact that it was not written with. One that is half written has no list. */
function othersIn(folder: string): readonly string[] {
  const sums = join(folder, sumsName);
  if (!existsSync(sums)) return [];
  const lines = readFileSync(sums, "utf8").trimEnd().split("\n");
  const known = new Set([sumsName, ...lines.map((line) => line.slice(66))]);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => !known.has(path))
    .sort();
}

/**
 * Replaces a folder. The earlier artefact stays until the new one is written. Of two at once, each
 * is whole, and one of them stays.
 */
export function writeArtefact(folder: string, files: ArtefactFiles): ArtefactSize {
  removeLeft(folder);
  const fresh = `${folder}.new-${process.pid}`;
  refuseOthers(fresh);
  rmSync(fresh, { recursive: true, force: true });
  try {
    const size = fill(fresh, files);
    // Right before it: a service that runs in it may write there meanwhile.
    refuseOthers(folder);
    putInPlace(fresh, folder);
    return size;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Removes what processes have left that were killed: artefacts, as a whole or in part. */
function removeLeft(folder: string): void {
  const parent = dirname(folder);
  if (!existsSync(parent)) return;
  for (const name of readdirSync(parent)) {
    const [, of, pid] = /^(.*)\.(?:new|old)-(\d+)$/.exec(name) ?? [];
    if (of !== basename(folder) || isRunning(Number(pid)) || !isArtefact(join(parent, name)))
      continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Everybody may read it: a service runs as nobody in particular. */
function fill(folder: string, files: ArtefactFiles): ArtefactSize {
  const size = { total: 0, native: 0 };
  const sums: string[] = [];
  const made = new Set<string>();
  const make = (path: string): void => {
    if (made.has(path)) return;
    made.add(path);
    if (path !== folder) make(dirname(path));
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
  };
  // First what says that it is an artefact, so that what is left of it may be removed.
  const order = [...files].toSorted(([left], [right]) => rank(left) - rank(right));
  for (const [path, content] of order) {
    const file = join(folder, path);
    make(dirname(file));
    if (typeof content === "string") writeFileSync(file, content);
    else copyFileSync(content.from, file);
    sums.push(`${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${path}\n`);
    const { size: bytes, mode } = statSync(file);
    chmodSync(file, (mode & 0o111) === 0 ? 0o644 : 0o755);
    size.total += bytes;
    if (path.endsWith(".node")) size.native += bytes;
  }
  // Last: what has it is whole.
  writeFileSync(
    join(folder, sumsName),
    sums.toSorted((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1)).join(""),
  );
  chmodSync(join(folder, sumsName), 0o644);
  return size;
}

/** Another build may put its own there meanwhile, which then makes way. */
function putInPlace(fresh: string, folder: string): void {
  for (let tries = 1; ; tries += 1) {
    const old = `${folder}.old-${process.pid}`;
    const isMoved = existsSync(folder) && moveAway(folder, old);
    try {
      renameSync(fresh, folder);
      return;
    } catch (error) {
      if (isMoved && !existsSync(folder)) renameSync(old, folder);
      if (tries === 10 || !existsSync(fresh)) throw error;
    } finally {
      if (isMoved) rmSync(old, { recursive: true, force: true });
    }
  }
}

/** Returns whether it did: another build may have been quicker. */
function moveAway(folder: string, to: string): boolean {
  try {
    renameSync(folder, to);
    return true;
  } catch (error) {
    if (existsSync(folder)) throw error;
    return false;
  }
}

const rank = (path: string): number => (path === "package.json" ? 0 : 1);
