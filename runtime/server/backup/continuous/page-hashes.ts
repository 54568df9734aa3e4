// What the pages of a database were when they were last kept: a short hash of each.
import { createHash } from "node:crypto";

/** Bytes of the hash of a page. */
export const hashBytes = 8;

export class PageHashes {
  #hashes: Buffer;

  constructor(hashes: Buffer = Buffer.alloc(0)) {
    this.#hashes = hashes;
  }

  /** The first bytes of the SHA-256 of a page. */
  static of(page: Buffer): Buffer {
    return createHash("sha256").update(page).digest().subarray(0, hashBytes);
  }

  get pageCount(): number {
    return this.#hashes.length / hashBytes;
  }

  /** Makes room for so many pages, and forgets those behind them. */
  resize(pageCount: number): void {
    const size = pageCount * hashBytes;
    if (size <= this.#hashes.length) {
      this.#hashes = this.#hashes.subarray(0, size);
      return;
    }
    const larger = Buffer.alloc(size);
    this.#hashes.copy(larger);
    this.#hashes = larger;
  }

  /** Sets the hash of a page; its number is from 1. */
  set(number: number, hash: Buffer): void {
    hash.copy(this.#hashes, (number - 1) * hashBytes);
  }

  has(number: number, hash: Buffer): boolean {
    const at = (number - 1) * hashBytes;
    return at < this.#hashes.length && this.#hashes.subarray(at, at + hashBytes).equals(hash);
  }

  toBuffer(): Buffer {
    return this.#hashes;
  }
}
