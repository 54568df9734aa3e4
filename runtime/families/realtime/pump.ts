// The pump of one connection: the whole delivery algorithm (architecture.md "Realtime"). The
// mailbox is the truth: a live signal is written only if it has the next position; anything else
// makes the pump read the mailbox.
import type { MailboxEntry, MailboxOwner, MailboxStore } from "../../ports/mailbox.js";
import { Signal } from "../../ports/signal.js";
import type { TellEntry } from "./told-entries.js";

/** The target of a pump. */
export interface Sink {
  /** Whether a frame can be written without waiting in memory. */
  isWritable(): boolean;
  /** Resolves once it is, or the connection has ended. */
  writable(): Promise<void>;
  write(signal: Signal): void;
  /** Ends the connection after a fault. */
  refuse(code: "core.internal"): void;
  readonly hasEnded: boolean;
}

/** What all pumps of a process have in common. */
export interface PumpSource {
  /** The mailbox of an owner, to be asked for again with each read. */
  readonly mailbox: (owner: MailboxOwner) => MailboxReads;
  readonly tell: TellEntry;
  /** Called with each entry that was written. */
  readonly wrote: (signal: Signal) => void;
  /** Called before a connection is ended after a fault. */
  readonly onFault: (error: unknown) => void;
}

export type MailboxReads = Pick<MailboxStore, "read" | "state" | "has">;

/** Entries that are read at a time, at most. */
const maxPageSize = 100;

/**
 * Delivers one mailbox to one connection, in order and without a gap, however many hints are lost.
 */
export class Pump {
  readonly #source: PumpSource;
  readonly #owner: MailboxOwner;
  readonly #sink: Sink;
  #sent: number;
  #wanted: number;
  /**
   * Entries of the next read: as many as the last one sent without waiting, so that few wait in
   * memory.
   */
  #pageSize = maxPageSize;
  #running: Promise<void> | undefined;

  /**
   * To be created once the connection is in the hub, so that a hint before the first read isn't
   * lost. `after` is the position after which everything is to be sent.
   */
  constructor(source: PumpSource, owner: MailboxOwner, sink: Sink, after: number) {
    this.#source = source;
    this.#owner = owner;
    this.#sink = sink;
    this.#sent = after;
    this.#wanted = after;
  }

  /** The position of the last entry that was written. */
  get sent(): number {
    return this.#sent;
  }

  /** Resolves once the mailbox has been read to its end. */
  start(): Promise<void> {
    return this.#run();
  }

  /**
   * A new entry of the mailbox: written at once if it is the next one, otherwise a reason to read.
   */
  hint(signal: Signal): void {
    const { position } = signal;
    const sink = this.#sink;
    if (position === null || position <= this.#sent || sink.hasEnded) return;
    this.#wanted = Math.max(this.#wanted, position);
    if (this.#running !== undefined) return;
    if (position === this.#sent + 1 && sink.isWritable()) {
      this.#writeEntry(signal);
      this.#sent = position;
      return;
    }
    void this.#run();
  }

  /** The position that the mailbox has reached: entries that the bus has lost are read. */
  wants(position: number): void {
    if (position <= this.#sent || this.#sink.hasEnded) return;
    this.#wanted = Math.max(this.#wanted, position);
    void this.#run();
  }

  #run(): Promise<void> {
    this.#running ??= this.#read()
      .catch((error: unknown) => {
        this.#source.onFault(error);
        this.#sink.refuse("core.internal");
      })
      .finally(() => {
        this.#running = undefined;
        // A hint may have come in the same tick as the end.
        if (this.#wanted > this.#sent && !this.#sink.hasEnded) void this.#run();
      });
    return this.#running;
  }

  async #read(): Promise<void> {
    const [owner, sink] = [this.#owner, this.#sink];
    for (;;) {
      if (sink.hasEnded) return;
      const wantedBefore = this.#wanted;
      const limit = this.#pageSize;
      const entries = await this.#source.mailbox(owner).read(owner, this.#sent, limit);
      const [first] = entries;
      // If nothing follows, the end of the mailbox may have been removed.
      if (first === undefined)
        this.#announceGap((await this.#source.mailbox(owner).state(owner, null)).floor);
      const written = this.#write(entries);
      if (written < entries.length && !sink.hasEnded) {
        this.#pageSize = Math.max(1, written);
        await sink.writable();
        continue;
      }
      this.#pageSize = Math.min(maxPageSize, limit * 2);
      // An entry that was hinted at during this read may not have been there yet.
      if (entries.length === limit || this.#wanted > wantedBefore) continue;
      // An entry that was hinted at before the read and isn't there has been removed.
      this.#wanted = this.#sent;
      return;
    }
  }

  /**
   * Writes entries as long as they can be; returns how many. What this version doesn't declare
   * counts as written.
   */
  #write(entries: readonly MailboxEntry[]): number {
    const sink = this.#sink;
    let written = 0;
    for (const entry of entries) {
      if (sink.hasEnded || !sink.isWritable()) break;
      this.#announceGap(entry.position - 1);
      const signal = this.#source.tell(entry);
      if (signal === "lost") this.#announceGap(entry.position);
      else if (signal !== "undeclared") this.#writeEntry(signal);
      this.#sent = entry.position;
      written += 1;
    }
    return written;
  }

  #writeEntry(signal: Signal): void {
    this.#sink.write(signal);
    this.#source.wrote(signal);
  }

  /** Announces entries up to a position that are gone: loss is never silent (decisions.md §2). */
  #announceGap(to: number): void {
    const sink = this.#sink;
    if (to <= this.#sent || sink.hasEnded) return;
    sink.write(new Signal("realtime.gap", JSON.stringify({ from: this.#sent + 1, to }), null));
    this.#sent = to;
  }
}
