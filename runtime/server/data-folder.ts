// A folder with what a service keeps: files of JSON lines, and bytes by their hashes.
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hasCode } from "../engines/disk-faults.js";
import { syncFolder } from "../engines/folder/durable-files.js";
import { privateFile, privateFolder } from "../engines/private-files.js";
import { fail } from "../contract/errors.js";
import { hashContent, type Contents } from "../operations/data-set.js";

const ending = ".jsonl";
const contentsFolder = "contents";

/** The path of a set's file. */
export function fileOf(folder: string, set: string): string {
  return `${join(folder, ...set.split("/"))}${ending}`;
}

/** The sets whose files a folder has, and the paths of whatever else it has. */
export async function listSets(folder: string): Promise<{
  readonly sets: ReadonlySet<string>;
  readonly others: readonly string[];
}> {
  const sets = new Set<string>();
  const others: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/");
    const isSet = path.endsWith(ending);
    if ((entry.isDirectory() && !isSet) || path.startsWith(`${contentsFolder}/`)) continue;
    if (isSet && !entry.isDirectory()) sets.add(path.slice(0, -ending.length));
    else others.push(path);
  }
  return { sets, others };
}

/** What a folder is called until it is whole. */
const unfinished = ".unfinished";

/** Whether a folder is an export that ended early. */
export function isUnfinished(folder: string): boolean {
  return resolve(folder).endsWith(unfinished);
}

/**
 * Has `write` fill a folder that isn't there yet or is empty. It has another name until it is
 * whole, so that no part of it is taken for all. Throws `core.conflict` where there
 * is something, and what the disk says.
 */
export async function fillFolder(
  folder: string,
  write: (folder: string) => Promise<void>,
): Promise<void> {
  const target = await realpath(folder).catch(() => resolve(folder));
  const begun = `${target}${unfinished}`;
  const there = await readdir(target).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  });
  if (there.length > 0)
    throw makeConflict(`${folder} isn't empty: name a folder that isn't there yet`);
  // Its parent has to be there: Node.js would try for ever to make some of them.
  await mkdir(begun, { mode: privateFolder }).catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
    throw makeConflict(
      `${begun} is there: another run is at it, or one has ended early; in that case remove it`,
    );
  });
  try {
    await write(begun);
    await rename(begun, target);
    await syncFolder(dirname(target));
  } catch (error) {
    await rm(begun, { recursive: true, force: true });
    throw error;
  }
}

function makeConflict(message: string): Error {
  return fail("core.conflict", {}, { cause: new Error(message) });
}

/** What the disk says, as an error with the name of what it is about. */
export function faultOfDisk(error: unknown, about: string): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const cause = new Error(`${about}: ${error.message}`, { cause: error });
  return fail("core.infrastructure", {}, { cause });
}

/** Writes the lines of a set to its file; returns how many. Without lines there is no file. */
export async function writeLines(
  folder: string,
  set: string,
  lines: AsyncIterable<string>,
): Promise<number> {
  const path = fileOf(folder, set);
  await mkdir(dirname(path), { recursive: true, mode: privateFolder });
  let count = 0;
  async function* texts(): AsyncGenerator<string> {
    let text = "";
    for await (const line of lines) {
      count += 1;
      text += `${line}\n`;
      if (text.length < bufferedLength) continue;
      yield text;
      text = "";
    }
    yield text;
  }
  await pipeline(
    Readable.from(texts()),
    createWriteStream(path, { mode: privateFile, flush: true }),
  );
  if (count === 0) await rm(path);
  return count;
}

/** Characters that are written at once. */
const bufferedLength = 1 << 18;

const lineFeed = 0x0a;
const space = 0x20;

/** Without the mark that some editors put before UTF-8. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line of a file, and its number from 1. */
export interface ReadLine {
  readonly number: number;
  readonly text: Buffer;
}

/** The lines of a set's file, without empty ones; those that are read together come together. */
export async function* readLines(folder: string, set: string): AsyncGenerator<readonly ReadLine[]> {
  let number = 0;
  let rest: Buffer[] = [];
  const lineOf = (text: Buffer): readonly ReadLine[] => {
    number += 1;
    return (text[0] ?? 0) <= space && text.toString().trim() === "" ? [] : [{ number, text }];
  };
  for await (const chunk of createReadStream(fileOf(folder, set), { highWaterMark: 1 << 20 })) {
    const bytes =
      number === 0 && rest.length === 0 ? withoutMark(chunk as Buffer) : (chunk as Buffer);
    const lines: ReadLine[] = [];
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      const text = bytes.subarray(start, end);
      lines.push(...lineOf(rest.length === 0 ? text : Buffer.concat([...rest, text])));
      rest = [];
      start = end + 1;
    }
    if (start < bytes.length) rest.push(bytes.subarray(start));
    if (lines.length > 0) yield lines;
  }
  const last = lineOf(Buffer.concat(rest));
  if (last.length > 0) yield last;
}

/** The bytes of a folder, by their hashes. */
export function contentsOf(folder: string): Contents {
  const root = join(folder, contentsFolder);
  const checked = new Map<string, number>();
  return {
    async keep(bytes) {
      await mkdir(root, { recursive: true, mode: privateFolder });
      const hash = createHash("sha256");
      const hashing = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          done(null, chunk);
        },
      });
      const path = join(root, ".new");
      await pipeline(bytes, hashing, createWriteStream(path, { mode: privateFile, flush: true }));
      const name = hash.digest("hex");
      await rename(path, join(root, name));
      return name;
    },

    async sizeOf(name) {
      const known = checked.get(name);
      if (known !== undefined) return known;
      if (!/^[0-9a-f]{64}$/.test(name)) return null;
      const path = join(root, name);
      const found = await stat(path).catch(() => null);
      if (found === null || !found.isFile()) return null;
      if ((await hashContent(createReadStream(path))) !== name) return null;
      checked.set(name, found.size);
      return found.size;
    },

    open: (name) => createReadStream(join(root, name)) as AsyncIterable<Buffer>,
  };
}
