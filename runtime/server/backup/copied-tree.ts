// Copies of folders, with the hash of each file.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hasCode } from "../../engines/disk-faults.js";
import { privateFile, privateFolder } from "../../engines/private-files.js";

/** What was copied: the hash of each file (SHA-256, hexadecimal) by its path, with `/`. */
export type Hashes = Map<string, string>;

/**
 * The files below a folder, by paths with `/`, in order. None if it isn't there. Folders that
 * vanish meanwhile count as empty, and no others do.
 */
export async function listTree(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  });
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.isFile()) found.push(entry.name);
    if (!entry.isDirectory()) continue;
    for (const path of await listTree(join(folder, entry.name)))
      found.push(`${entry.name}/${path}`);
  }
  return found.toSorted();
}

/**
 * Copies a file to one of this account's own, durably; returns its hash. If there is no such file,
 * nothing is written.
 */
export async function copyHashed(from: string, to: string): Promise<string> {
  const source = await open(from, "r");
  await mkdir(dirname(to), { recursive: true, mode: privateFolder });
  const hash = createHash("sha256");
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  await pipeline(
    source.createReadStream(),
    hashing,
    createWriteStream(to, { mode: privateFile, flush: true }),
  );
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
    const source = join(from, path);
    try {
      const { size, mtimeMs, ino } = await stat(source);
      const version = `${size} ${mtimeMs} ${ino}`;
      if (known.get(path) === version) continue;
      hashes.set(path, await copyHashed(source, join(to, path)));
      known.set(path, version);
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
  }
}
