// What is committed to a write-ahead log, read from its file
// (https://www.sqlite.org/fileformat2.html#walformat). SQLite has no locks on this file, so this
// process may open and close it beside its connections.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ArchiveGap } from "../../ports/archive.js";

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Read and checked at once. */
const portionBytes = 1 << 20;

/** Both parts of a checksum. */
type Sums = readonly [number, number];

/** Where a log was read up to: after so many frames, which are those of one beginning of it. */
interface Place {
  /** What all frames since the log's last beginning carry; null before there are any. */
  readonly salt: Buffer | null;
  readonly frames: number;
  readonly sums: Sums;
}

/** What a log says was committed. */
export interface Logged {
  /** The frame of each changed page's newest content, by its number. */
  readonly frames: ReadonlyMap<number, number>;
  /** How many pages the database has then. */
  readonly pageCount: number;
}

export class LogTail {
  readonly #file: number;
  readonly #pageSize: number;
  #place: Place | undefined;

  /** Opens the log at `path`, which must exist. */
  constructor(path: string, pageSize: number) {
    this.#file = openSync(path, "r");
    this.#pageSize = pageSize;
  }

  /** Bytes since the log's last beginning, as far as it was read. */
  get size(): number {
    return (this.#place?.frames ?? 0) * this.#frameBytes;
  }

  get #frameBytes(): number {
    return frameHeaderBytes + this.#pageSize;
  }

  /**
   * What was committed since the last call; null if nothing was. Yields where others may have a
   * turn. Throws `ArchiveGap` if the log isn't the one that was read, nor the one after it.
   */
  *advance(): Generator<undefined, Logged | null> {
    const place = this.#begin();
    if (place === null) return null;
    const frames = new Map<number, number>();
    let uncommitted = new Map<number, number>();
    let [at, sums, pageCount] = [place.frames, place.sums, 0];
    const { salt } = place;
    let reached = place;
    for (;;) {
      const portion = this.#read(at);
      let from = 0;
      for (; from < portion.length; from += this.#frameBytes) {
        const frame = portion.subarray(from, from + this.#frameBytes);
        const number = frame.readUInt32BE(0);
        if (number === 0 || salt === null || !frame.subarray(8, 16).equals(salt)) break;
        const next = this.#sumsOf(portion, from, sums);
        if (!isAt(frame, 16, next)) break;
        sums = next;
        at += 1;
        uncommitted.set(number, at);
        const committed = frame.readUInt32BE(4);
        if (committed === 0) continue;
        for (const [page, own] of uncommitted) frames.set(page, own);
        uncommitted = new Map();
        pageCount = committed;
        reached = { salt, frames: at, sums };
      }
      if (from < portion.length || portion.length === 0) break;
      yield;
    }
    // Only now: after a fault of the disk, all of it is read again.
    this.#place = reached;
    return pageCount === 0 ? null : { frames, pageCount };
  }

  /** The content of a page in a frame. */
  page(frame: number): Buffer {
    const page = Buffer.allocUnsafeSlow(this.#pageSize);
    const at = headerBytes + (frame - 1) * this.#frameBytes + frameHeaderBytes;
    if (readSync(this.#file, page, 0, page.length, at) < page.length)
      throw new ArchiveGap(`frame ${frame} of the log is gone`);
    return page;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Where to go on; null if nothing can be said yet. */
  #begin(): Place | null {
    const header = Buffer.allocUnsafeSlow(headerBytes);
    const known = this.#place;
    if (fstatSync(this.#file).size < headerBytes) {
      // It was emptied: what was in it is in the database.
      this.#place = { salt: null, frames: 0, sums: [0, 0] };
      return null;
    }
    readSync(this.#file, header, 0, headerBytes, 0);
    const salt = header.subarray(16, 24);
    if (known?.salt?.equals(salt) === true) return known;
    const sums = addSums(wordsOf(header.subarray(0, 24)), [0, 0]);
    // It is being written just now.
    if ((header.readUInt32BE(0) & ~1) !== magic || !isAt(header, 24, sums)) return null;
    if (header.readUInt32BE(0) !== ownMagic)
      throw new ArchiveGap("the log was begun on a machine with another order of bytes");
    if (header.readUInt32BE(8) !== this.#pageSize)
      throw new ArchiveGap("pages have another size now");
    if (known?.salt != null && salt.readUInt32BE(0) !== (known.salt.readUInt32BE(0) + 1) >>> 0)
      throw new ArchiveGap("the log began anew more than once");
    return { salt, frames: 0, sums };
  }

  /** Whole frames from behind the first `count`. */
  #read(count: number): Buffer {
    const most = Math.max(1, Math.floor(portionBytes / this.#frameBytes)) * this.#frameBytes;
    const portion = Buffer.allocUnsafeSlow(most);
    const at = headerBytes + count * this.#frameBytes;
    const read = readSync(this.#file, portion, 0, most, at);
    return portion.subarray(0, read - (read % this.#frameBytes));
  }

  #sumsOf(portion: Buffer, from: number, sums: Sums): Sums {
    const head = addSums(wordsOf(portion.subarray(from, from + 8)), sums);
    const page = portion.subarray(from + frameHeaderBytes, from + this.#frameBytes);
    return addSums(wordsOf(page), head);
  }
}

/** The first four bytes of a log; the lowest bit says in which order sums take the bytes. */
const magic = 0x377f0682;
const ownMagic = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? magic : magic | 1;

function wordsOf(bytes: Buffer): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

function addSums(words: Uint32Array, [first, second]: Sums): Sums {
  for (let at = 0; at < words.length; at += 2) {
    first = (first + (words[at] ?? 0) + second) | 0;
    second = (second + (words[at + 1] ?? 0) + first) | 0;
  }
  return [first, second];
}

function isAt(bytes: Buffer, at: number, [first, second]: Sums): boolean {
  return bytes.readInt32BE(at) === first && bytes.readInt32BE(at + 4) === second;
}
