// The header of the index that SQLite keeps of a log, in the file beside it, which its connections
// map into memory (https://www.sqlite.org/walformat.html#the_wal_index_header). It alone says what
// is committed: a frame may be whole in the log, and its transaction have failed all the same.
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

/** What is committed to a log. */
export interface LogIndex {
  /** Bytes of a page. */
  readonly pageSize: number;
  /** How many frames; 0 if it begins anew with the next one. */
  readonly frames: number;
  /** What these frames carry. */
  readonly salt: Buffer;
  /** The sums of the last frame. */
  readonly sums: readonly [number, number];
}

const copyBytes = 48;

/**
 * Files that were opened, by their paths. They stay open: if this process closed one, it would lose
 * the locks that its connections have on it, as POSIX has it.
 */
const opened = new Map<string, number>();

/** Null if it is being changed, or not there yet. */
export function readLogIndex(path: string): LogIndex | null {
  const both = Buffer.alloc(2 * copyBytes);
  if (readSync(fileOf(path), both, 0, both.length, 0) < both.length) return null;
  const [first, second] = [both.subarray(0, copyBytes), both.subarray(copyBytes)];
  const isReady = first[12] === 1;
  if (!isReady || !first.equals(second)) return null;
  // Numbers are in the order of the machine, the salt is as in the log.
  const numbers = new Int32Array(both.buffer, both.byteOffset, copyBytes / 4);
  const pages = new Uint16Array(both.buffer, both.byteOffset, copyBytes / 2)[7] ?? 0;
  return {
    pageSize: pages === 1 ? 65_536 : pages,
    frames: numbers[4] ?? 0,
    salt: Buffer.from(first.subarray(32, 40)),
    sums: [numbers[6] ?? 0, numbers[7] ?? 0],
  };
}

function fileOf(path: string): number {
  const known = opened.get(path);
  if (known !== undefined) {
    const [own, there] = [fstatSync(known), statSync(path)];
    if (own.ino === there.ino && own.dev === there.dev) return known;
    // Another file has the name now, so nobody has locks on this one.
    closeSync(known);
  }
  const file = openSync(path, "r");
  opened.set(path, file);
  return file;
}
