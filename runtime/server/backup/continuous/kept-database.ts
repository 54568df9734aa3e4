// One process's turn at keeping a database: what is committed is written to the backup, delta by
// delta, each over the one before.
import { drawBytes, nextTurn } from "../../../ports/ambient.js";
import { ArchiveGap, type HeldLog, type PageSet } from "../../../ports/archive.js";
import type { Clock } from "../../../ports/clock.js";
import type { BackupStore } from "./backup-store.js";
import { refuse } from "../place.js";
import { mostSequence, sequenceOf, stateId, writerOf, type StateId } from "./delta.js";
import { listExpendable, pathTo, pathToNewest, type Lineage, type WholeDelta } from "./lineage.js";
import { writeLocalState } from "./local-state.js";
import { hashBytes, PageHashes } from "./page-hashes.js";
import { PendingPages } from "./pending-pages.js";
import type { Series } from "./series.js";
import { writeDelta, type WrittenDelta } from "./write-delta.js";

/** When more is done than to write what was committed. */
export interface KeptBounds {
  /** The log begins anew once it has so many pages. */
  readonly logPages: number;
  /** So many states may be one after the other before a delta leads past them. */
  readonly steps: number;
  /** So many pages may be written over a full delta, at least. */
  readonly pages: number;
}

/** The log is as long as with SQLite alone. */
const usualBounds: KeptBounds = { logPages: 800, steps: 128, pages: 16_384 };
/** Pages that are compared at once, since that blocks others. */
const comparedAtOnce = 64;
const hourMillis = 3_600_000;
const dayMillis = 24 * hourMillis;
/** For how long every state may be asked for; later, one in about a hundred. */
const everyMillis = hourMillis;
const looseMillis = dayMillis;
/** After so long, it is looked whether the backup has what it had. */
const lookedMillis = 10 * 60_000;

export interface KeptOptions {
  readonly store: BackupStore;
  readonly log: HeldLog;
  /** A time before the log was opened. */
  readonly openedAt: number;
  /** The path of the database. */
  readonly database: string;
  readonly series: Series;
  readonly service: { readonly name: string; readonly version: string };
  readonly days: number;
  /** Tests set smaller ones. */
  readonly bounds?: KeptBounds;
  readonly clock: Clock;
  /** Aborts what is under way. */
  readonly signal: AbortSignal;
  /** Told what was written. */
  readonly written: (written: Pick<WrittenDelta, "delta" | "bytes">) => void;
  /** Told why a delta that spares others failed, or removing what is too old; tried again later. */
  readonly failed: (error: unknown, what: "writing" | "removing") => void;
  /** Told that the backup hasn't got the state any more that this database goes on from. */
  readonly emptied: () => void;
  /** Told that somebody else writes to this series, too. */
  readonly crossed: () => void;
}

export class KeptDatabase {
  readonly #options: KeptOptions;
  readonly #bounds: KeptBounds;
  readonly #writer = drawBytes(4).toString("hex");
  readonly #hashes: PageHashes;
  #state: StateId | null;
  #sequence = 0;
  /** When what the backup has was committed, at the latest. */
  #at = 0;
  /** What was committed, and isn't in the backup yet. */
  readonly #pending = new PendingPages();
  /** The last state that a delta past others leads to, and what has changed since. */
  #mark: StateId | null = null;
  #changed = new Set<number>();
  #steps = 0;
  /** The last full delta, and how many pages were written since. */
  #fullAt = 0;
  #fullPages = 0;
  #pagesSince = 0;
  #sparing: Promise<void> | null = null;
  /** The state that the disk knows; undefined before it is written. */
  #saved: StateId | null | undefined;
  #lookedAt: number;
  /** Whether the backup has lost what it had. */
  #isGone = false;
  /** The highest sequence that was there before. */
  #since = 0;

  private constructor(options: KeptOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? usualBounds;
    this.#lookedAt = options.clock.now();
    const { local } = options.series;
    const isKnown = local?.state != null && local.pageSize === options.log.pageSize;
    this.#state = isKnown ? local.state : null;
    this.#hashes = isKnown ? local.hashes : new PageHashes();
  }

  /**
   * Begins with what differs from the last state that is known to be kept: anybody may have written
   * since.
   */
  static async resume(options: KeptOptions): Promise<KeptDatabase> {
    const kept = new KeptDatabase(options);
    await kept.#resume();
    return kept;
  }

  /**
   * Has the backup keep what was committed before a time, with which it resolves: the one by which
   * `--at` finds this state. Rejects with the store's fault; then the next call tries it with all
   * that came meanwhile. Rejects with `ArchiveGap` if it has to be begun again.
   */
  async keep(): Promise<number> {
    if (this.#isGone) throw new ArchiveGap("the backup lacks what it had");
    const at = this.#options.clock.now();
    this.#pending.add(await this.#options.log.advance());
    await this.#writePending(at);
    const { log } = this.#options;
    const { logPages, steps } = this.#bounds;
    const isLong = log.size >= logPages * log.pageSize || this.#steps >= steps;
    if (isLong && this.#sparing === null) await this.#restart();
    if (this.#options.clock.now() - this.#lookedAt > lookedMillis) await this.#look();
    return at;
  }

  /** Whether what was kept is still there; if not, this has to be begun again. */
  async #look(): Promise<void> {
    const { store, series, clock, signal } = this.#options;
    this.#lookedAt = clock.now();
    this.#noteIfGone(await store.readLineage(series.name, signal));
    await this.save();
  }

  #noteIfGone(lineage: Lineage): void {
    // Somebody has removed parts of it, or another one who writes to the same series has.
    if (this.#state !== null && pathTo(lineage, this.#state) === null) this.#isGone = true;
  }

  /** Has the disk keep what is known, so that whoever goes on has less to compare. */
  async save(): Promise<void> {
    const { database, log, series } = this.#options;
    if (this.#saved === this.#state) return;
    this.#saved = this.#state;
    await writeLocalState(database, {
      series: series.name,
      state: this.#state,
      pageSize: log.pageSize,
      hashes: this.#hashes,
    });
  }

  /** Resolves once nothing reads the log any more. What is under way has to be aborted before. */
  async idle(): Promise<void> {
    await this.#sparing;
  }

  async #resume(): Promise<void> {
    const { store, series, signal, log, openedAt: at, emptied } = this.#options;
    const lineage = await store.readLineage(series.name, signal);
    const way = this.#state === null ? null : pathTo(lineage, this.#state);
    if (way === null) {
      if (this.#state !== null) emptied();
      this.#state = null;
      this.#hashes.resize(0);
    }
    this.#learn(lineage, way ?? []);
    // From now on the place belongs to this database, also if this ends before anything is kept.
    await this.save();
    const held = log.held();
    const numbers = this.#state === null ? held.numbers : await this.#compare(held);
    const isSame = numbers.length === 0 && held.pageCount === this.#hashes.pageCount;
    // If this goes on from an earlier state, the later ones aren't the newest any more.
    const isNewest = this.#state !== null && this.#state === pathToNewest(lineage)?.at(-1)?.to;
    if (!isSame || !isNewest) await this.#write(this.#state, { ...held, numbers }, at);
    this.#mark = this.#state;
    this.#changed = new Set();
    this.#steps = 0;
    await this.save();
  }

  /** Takes over what the backup has. */
  #learn(lineage: Lineage, way: readonly WholeDelta[]): void {
    for (const { to, at } of lineage.deltas) {
      this.#sequence = Math.max(this.#sequence, sequenceOf(to));
      // Also of those that this doesn't go on from: what comes now is newer.
      this.#at = Math.max(this.#at, at);
    }
    if (this.#sequence > mostSequence)
      throw refuse("core.conflict", `the backup has a state ${this.#sequence}, which can't be`);
    this.#since = this.#sequence;
    const [full, ...others] = way;
    this.#fullAt = full?.at ?? 0;
    this.#fullPages = full?.pages ?? 0;
    this.#pagesSince = others.reduce((sum, { pages }) => sum + pages, 0);
  }

  /** The pages that aren't what the backup has. */
  async #compare({ numbers, read }: PageSet): Promise<readonly number[]> {
    const differing: number[] = [];
    for (let at = 0; at < numbers.length; at += comparedAtOnce) {
      this.#options.signal.throwIfAborted();
      const some = numbers.slice(at, at + comparedAtOnce);
      for (const [index, page] of read(some).entries()) {
        const number = some[index] ?? 0;
        if (!this.#hashes.has(number, PageHashes.of(page))) differing.push(number);
      }
      await nextTurn();
    }
    return differing;
  }

  async #writePending(at: number): Promise<void> {
    const pending = this.#pending;
    if (pending.isEmpty) return;
    const { pageCount, numbers } = pending;
    const pages = { pageCount, numbers, read: (some: readonly number[]) => pending.read(some) };
    await this.#write(this.#state, pages, at);
    pending.clear();
  }

  /** Writes the next state. */
  async #write(from: StateId | null, pages: PageSet, at: number): Promise<void> {
    this.#sequence += 1;
    const to = stateId(this.#sequence, this.#writer);
    // A clock that was set back makes no state older than the one before.
    this.#at = Math.max(this.#at, at);
    const { hashes } = await this.#writeDelta({ from, to, at: this.#at }, pages);
    this.#hashes.resize(pages.pageCount);
    for (const [index, number] of pages.numbers.entries()) {
      this.#changed.add(number);
      this.#hashes.set(number, hashes.subarray(index * hashBytes, (index + 1) * hashBytes));
    }
    this.#state = to;
    this.#steps += 1;
    if (from === null) this.#noteFull(this.#at, pages.numbers.length);
    else this.#pagesSince += pages.numbers.length;
  }

  async #writeDelta(
    { from, to, at }: Pick<WrittenDelta["delta"], "from" | "to" | "at">,
    pages: PageSet,
  ): Promise<WrittenDelta> {
    const { store, series, service, log, signal, written } = this.#options;
    const facts = { service: service.name, version: service.version, pageSize: log.pageSize };
    const delta = { series: series.name, facts, from, to, at, pages };
    const done = await writeDelta(store, delta, signal);
    written(done);
    return done;
  }

  #noteFull(at: number, pages: number): void {
    this.#fullAt = at;
    this.#fullPages = pages;
    this.#pagesSince = 0;
  }

  /**
   * Lets the log begin anew. The state that is held then is the one that the backup has, so that a
   * delta past others can be written from it.
   */
  async #restart(): Promise<void> {
    const at = this.#options.clock.now();
    const rest = await this.#options.log.restart();
    // Another process is writing for long; what was committed is kept all the same.
    if (rest === null) return;
    for (const pages of rest) this.#pending.add(pages);
    await this.#writePending(at);
    if (this.#steps >= this.#bounds.steps || this.#isFullDue())
      this.#sparing = this.#spare().finally(() => {
        this.#sparing = null;
      });
  }

  #isFullDue(): boolean {
    const { clock, days } = this.#options;
    const isOld = clock.now() - this.#fullAt > (days * dayMillis) / 2;
    return isOld || this.#pagesSince > Math.max(this.#bounds.pages, this.#fullPages);
  }

  /** Writes a delta that leads past those since the last such one, or past all. */
  async #spare(): Promise<void> {
    const { log, failed, signal } = this.#options;
    const [to, at, isFull] = [this.#state, this.#at, this.#isFullDue()];
    const [mark, changed, steps] = [this.#mark, this.#changed, this.#steps];
    this.#changed = new Set();
    this.#steps = 0;
    try {
      if (to === null) return;
      const held = log.held();
      const differing = [...changed].filter((number) => number <= held.pageCount);
      const numbers = isFull ? held.numbers : differing.toSorted((one, other) => one - other);
      await this.#writeDelta({ from: isFull ? null : mark, to, at }, { ...held, numbers });
      this.#mark = to;
      if (isFull) this.#noteFull(at, numbers.length);
    } catch (error) {
      for (const number of changed) this.#changed.add(number);
      this.#steps += steps;
      if (!signal.aborted) failed(error, "writing");
      return;
    }
    try {
      await this.#removeExpendable();
    } catch (error) {
      if (!signal.aborted) failed(error, "removing");
    }
  }

  async #removeExpendable(): Promise<void> {
    const { store, series, clock, days, signal, crossed } = this.#options;
    const now = clock.now();
    const lineage = await store.readLineage(series.name, signal);
    const isStrange = ({ to }: WholeDelta): boolean =>
      sequenceOf(to) > this.#since && writerOf(to) !== this.#writer;
    if (lineage.deltas.some(isStrange)) crossed();
    this.#noteIfGone(lineage);
    const expendable = listExpendable(lineage, {
      everySince: now - everyMillis,
      someSince: now - days * dayMillis,
      looseSince: now - looseMillis,
    });
    for (const key of expendable) await store.remove(key, signal);
    await store.sweep(series.name, looseMillis / 1_000);
  }
}
