// A disk that failed to read: after that, seeks of SQLite may miss rows that are there, without an error. Until a scan has
// gone through, nothing is answered from the file; then all connections are opened anew (attack 84).
import { unavailable } from "../../contract/errors.js";
import { primaryCode } from "./faults.js";

const ofDisk = new Set(["SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CANTOPEN"]);
/** Milliseconds between two looks at the disk. */
const lookMillis = 250;

export class DiskDoubt {
  readonly #look: () => void;
  #fault: unknown;
  #lookedAt = 0;
  #generation = 0;

  /** `look` reads from the disk with a connection of its own, and throws where that cannot be done. */
  constructor(look: () => void) {
    this.#look = look;
  }

  /** Told of every fault of a statement. */
  note(error: unknown): void {
    if (this.#fault !== undefined || !ofDisk.has(primaryCode(error))) return;
    this.#fault = error;
    this.#lookedAt = performance.now();
  }

  /** Which connections are good: those that were opened in this generation. Throws `core.unavailable` while there is none. */
  get generation(): number {
    if (this.#fault === undefined) return this.#generation;
    if (performance.now() - this.#lookedAt >= lookMillis) this.#lookAgain();
    if (this.#fault === undefined) return this.#generation;
    throw unavailable(this.#fault);
  }

  #lookAgain(): void {
    try {
      this.#look();
      this.#fault = undefined;
      this.#generation += 1;
    } catch (error) {
      this.#fault = error;
    }
    this.#lookedAt = performance.now();
  }
}
