// Copies of folders, with the hash of each file.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, type Dirent } from "node:fs";
import { mkdir, open, readdir, realpath, stat, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { syncFolder } from "../../engines/folder/durable-files.js";
import { hasCode } from "../../engines/disk-faults.js";
import { privateFile, privateFolder } from "../../engines/private-files.js";
import { refuse } from "./place.js";

/** What was copied: the hash of each file (SHA-256, hexadecimal) by its path, with `/`. */
export type Hashes = Map<string, string>;

/**
 * The files below a folder, by paths with `/`, in order. Folders that vanish meanwhile count as
 * empty, and no others do. Throws `core.conflict` of whatever is neither a file nor a folder, of a
 * link that leads in a circle, and of any link if they are refused.
 */
export function listTree(
  folder: string,
  { links = "follow" }: { readonly links?: "follow" | "refuse" } = {},
): Promise<readonly string[]> {
  return listBelow(folder, links === "follow", []);
}

async function listBelow(
  folder: string,
  followsLinks: boolean,
  above: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  const real = await orAbsent(realpath(folder));
  if (real === null) return found;
  if (above.includes(real)) throw refuse("core.conflict", `${folder} is a link in a circle`);
  for (const entry of (await orAbsent(readdir(folder, { withFileTypes: true }))) ?? []) {
    const path = join(folder, entry.name);
    const isLink = followsLinks && entry.isSymbolicLink();
    const kind: Kind | null = isLink ? await orAbsent(stat(path)) : entry;
    if (kind === null) continue;
    if (kind.isFile()) found.push(entry.name);
    else if (kind.isDirectory())
      for (const inside of await listBelow(path, followsLinks, [...above, real]))
        found.push(`${entry.name}/${inside}`);
    else throw refuse("core.conflict", `${path} is neither a file nor a folder: remove it`);
  }
  return found.toSorted();
}

type Kind = Pick<Dirent, "isFile" | "isDirectory">;

/** The value, or null if what it is about isn't there. */
async function orAbsent<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

/** Copies a file to one of this account's own, durably; returns its hash. */
export async function copyHashed(from: string, to: string): Promise<string> {
  return copyOpened(await open(from, "r"), to);
}

async function copyOpened(source: FileHandle, to: string): Promise<string> {
  const hash = createHash("sha256");
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const bytes = source.createReadStream();
  try {
    await mkdir(dirname(to), { recursive: true, mode: privateFolder });
    await pipeline(bytes, hashing, createWriteStream(to, { mode: privateFile, flush: true }));
  } finally {
    bytes.destroy();
  }
  return hash.digest("hex");
}

/** Has the disk keep what somebody else has written to a file. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** What a file was when it was copied: another one has another size, time or place on the disk. */
type Known = Map<string, string>;

/**
 * Copies the files of a folder in which others go on writing, files that are renamed into place:
 * those that it doesn't know yet, or not as they are now. What vanishes meanwhile is left out, or
 * stays as it was.
 */
export async function copyTree(
  from: string,
  to: string,
  { known, hashes }: { readonly known: Known; readonly hashes: Hashes },
): Promise<void> {
  for (const path of await listTree(from)) {
    const source = await orAbsent(open(join(from, path), "r"));
    if (source === null) continue;
    const { size, mtimeMs, ino } = await source.stat();
    const version = `${size} ${mtimeMs} ${ino}`;
    if (known.get(path) === version) {
      await source.close();
      continue;
    }
    hashes.set(path, await copyOpened(source, join(to, path)));
    known.set(path, version);
  }
}

/** Has the disk keep the names of files, and of the folders that they are in. */
export async function syncFolders(root: string, paths: Iterable<string>): Promise<void> {
  const folders = new Set([""]);
  for (const path of paths)
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
      folders.add(path.slice(0, at));
  for (const path of folders) await syncFolder(join(root, path));
}
