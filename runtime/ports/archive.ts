// The port of an embedded database's log, from which a continuous backup learns what was committed.

/** Pages of a database as they are in one of its states. */
export interface PageSet {
  /** How many pages the whole database has in this state. */
  readonly pageCount: number;
  /** Numbers from 1, ascending. */
  readonly numbers: readonly number[];
  /** The pages of some of these numbers, in this order. Blocks the event loop. */
  read(numbers: readonly number[]): readonly Buffer[];
}

/**
 * A log that others write on, held so that nothing is overwritten before it was read. Throws what
 * the disk says; then, and after `ArchiveGap`, it has to be closed.
 */
export interface HeldLog {
  /** Bytes of a page. */
  readonly pageSize: number;
  /** Bytes of the log since the last `restart`. */
  readonly size: number;
  /**
   * What was committed since the last call of this or of `restart`; null if nothing was. It can be
   * read until `restart`. Rejects with `ArchiveGap` if something may have been overwritten.
   */
  advance(): Promise<PageSet | null>;
  /**
   * Holds on to the state as of now, and lets the log begin anew as far as nobody reads older
   * states. Resolves with what was committed since the last call, one after the other, which can be
   * read for ever. Waits for a moment without a transaction; null if there is none for long, and
   * nothing has changed.
   */
  restart(): Promise<readonly PageSet[] | null>;
  /** The whole database as it was at the last `restart`. */
  held(): PageSet;
  close(): Promise<void>;
}

/** Whose turn it is to keep a database: one process at a time, until that ends. */
export interface ArchiveTurn {
  release(): void;
}

/** How a database is kept while it is written to. */
export interface Archive {
  /** Null while another process has the turn. */
  takeTurn(): ArchiveTurn | null;
  open(): Promise<HeldLog>;
  /** The file of the database. */
  readonly path: string;
}

/** The log isn't what it was when it was last read. */
export class ArchiveGap extends Error {}
