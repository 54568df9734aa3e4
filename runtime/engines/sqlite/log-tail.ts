// What is committed to a write-ahead log, read from its file
// (https://www.sqlite.org/fileformat2.html#walformat). SQLite has no locks on this file, so this
// process may open and close it beside its connections.
import { closeSync, openSync, readSync } from "node:fs";
import { ArchiveGap } from "../../ports/archive.js";
import { readLogIndex, type LogIndex } from "./log-index.js";

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Read and checked at once. */
const portionBytes = 1 << 20;

/** Both parts of a checksum. */
type Sums = readonly [number, number];

/** Where a log was read up to: after so many frames, which are those of one beginning of it. */
interface Place {
  /** What all frames since the log's last beginning carry. */
  readonly salt: Buffer;
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
  /** Bytes of a page. */
  readonly pageSize: number;
  readonly #path: string;
  readonly #file: number;
  #place: Place | undefined;
  /** Frames that were there when the size was last reset. */
  #before = 0;

  /** Opens the log of the database at `path`, which has one. */
  constructor(path: string, pageSize: number) {
    this.#path = path;
    this.#file = openSync(`${path}-wal`, "r");
    this.pageSize = pageSize;
  }

  /** Bytes since `resetSize`, as far as the log was read. */
  get size(): number {
    return Math.max(0, (this.#place?.frames ?? 0) - this.#before) * this.#frameBytes;
  }

  get #frameBytes(): number {
    return frameHeaderBytes + this.pageSize;
  }

  /** Bytes of all that is committed to the log, as far as that can be told now. */
  get length(): number {
    return (this.#index()?.frames ?? 0) * this.#frameBytes;
  }

  resetSize(): void {
    this.#before = this.#place?.frames ?? 0;
  }

  /** Goes to the end of what is committed. Nobody may commit meanwhile. */
  skip(): void {
    const { salt, frames, sums } = this.#index() ?? unreadable();
    this.#place = { salt, frames, sums };
  }

  /**
   * What was committed since the last call; null if nothing was. Yields where others may have a
   * turn. Throws `ArchiveGap` if the log isn't the one that was read, nor the one after it.
   */
  *advance(): Generator<undefined, Logged | null> {
    const index = this.#index();
    const from = index && this.#begin(index);
    if (index === null || from === null) return null;
    const frames = new Map<number, number>();
    let [at, sums, pageCount] = [from.frames, from.sums, 0];
    while (at < index.frames) {
      const portion = this.#read(at, index.frames - at);
      for (let start = 0; start < portion.length; start += this.#frameBytes) {
        const frame = portion.subarray(start, start + this.#frameBytes);
        sums = this.#sumsOf(portion, start, sums);
        if (!frame.subarray(8, 16).equals(index.salt) || !isAt(frame, 16, sums))
          throw new ArchiveGap(`frame ${at + 1} of the log is damaged`);
        at += 1;
        frames.set(frame.readUInt32BE(0), at);
        pageCount = frame.readUInt32BE(4);
      }
      if (at < index.frames) yield;
    }
    if (sums[0] !== index.sums[0] || sums[1] !== index.sums[1])
      throw new ArchiveGap("what was read of the log is no longer what it has");
    if (from.frames === 0 && from.salt !== this.#place?.salt) this.#before = 0;
    // Only now: after a fault of the disk, all of it is read again.
    this.#place = { salt: from.salt, frames: at, sums };
    return frames.size === 0 ? null : { frames, pageCount };
  }

  /** The content of a page in a frame. */
  page(number: number, frame: number): Buffer {
    const whole = Buffer.allocUnsafeSlow(this.#frameBytes);
    const at = headerBytes + (frame - 1) * this.#frameBytes;
    const read = readSync(this.#file, whole, 0, whole.length, at);
    if (read < whole.length || whole.readUInt32BE(0) !== number)
      throw new ArchiveGap(`frame ${frame} of the log is gone`);
    return whole.subarray(frameHeaderBytes);
  }

  close(): void {
    closeSync(this.#file);
  }

  #index(): LogIndex | null {
    const index = readLogIndex(`${this.#path}-shm`);
    // Of a log that has nothing yet, it isn't known.
    if (index !== null && index.frames > 0 && index.pageSize !== this.pageSize)
      throw new ArchiveGap("pages have another size now");
    return index;
  }

  /** Where to go on; null if the log is just beginning anew. */
  #begin({ salt, frames }: LogIndex): Place | null {
    const known = this.#place;
    if (known?.salt.equals(salt) === true) {
      if (frames < known.frames) throw new ArchiveGap("frames that were read are gone");
      return known;
    }
    // If there was nothing, the salt isn't drawn before there is.
    const isNext = salt.readUInt32BE(0) === ((known?.salt.readUInt32BE(0) ?? 0) + 1) >>> 0;
    if (known !== undefined && known.frames > 0 && !isNext)
      throw new ArchiveGap("the log began anew more than once");
    if (frames === 0) return null;
    const header = Buffer.allocUnsafeSlow(headerBytes);
    readSync(this.#file, header, 0, headerBytes, 0);
    if (header.readUInt32BE(0) !== ownMagic || !header.subarray(16, 24).equals(salt))
      throw new ArchiveGap("the log isn't the one that its index is of");
    return { salt, frames: 0, sums: [header.readInt32BE(24), header.readInt32BE(28)] };
  }

  /** Whole frames from behind the first `count`, and no more than there are. */
  #read(count: number, left: number): Buffer {
    const most = Math.min(left, Math.max(1, Math.floor(portionBytes / this.#frameBytes)));
    const portion = Buffer.allocUnsafeSlow(most * this.#frameBytes);
    const at = headerBytes + count * this.#frameBytes;
    if (readSync(this.#file, portion, 0, portion.length, at) < portion.length)
      throw new ArchiveGap("the log is shorter than its index says");
    return portion;
  }

  #sumsOf(portion: Buffer, from: number, sums: Sums): Sums {
    const head = addSums(wordsOf(portion.subarray(from, from + 8)), sums);
    const page = portion.subarray(from + frameHeaderBytes, from + this.#frameBytes);
    return addSums(wordsOf(page), head);
  }
}

function unreadable(): never {
  throw new ArchiveGap("the index of the log can't be read");
}

/** The first four bytes of a log whose sums take the bytes in the order of this machine. */
const ownMagic = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0x377f0682 : 0x377f0683;

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
