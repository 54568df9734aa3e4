// The continuous backup of an embedded database: whatever is committed is in a bucket, or in a
// folder on another disk, about half a second later. Of several processes, one does it.
import { sleep } from "../../../ports/ambient.js";
import { ArchiveGap, type Archive, type HeldLog } from "../../../ports/archive.js";
import type { Clock } from "../../../ports/clock.js";
import type { Log } from "../../../ports/log.js";
import { tellOnce, type Outage } from "../../../work/tell-once.js";
import type { BackupStore } from "./backup-store.js";
import { KeptDatabase } from "./kept-database.js";
import { tellReason } from "./reason.js";
import { findSeries } from "./series.js";

/** Between two looks at the log, and between two attempts after a fault. */
const everyMillis = 500;
const pauseMillis = 2_000;
/** The log may grow to so many bytes while the store doesn't take anything. */
const mostLogBytes = 256 * 1024 * 1024;
/** How long a stop waits for what was committed last, and for what is aborted then. */
const lastMillis = 3_000;
const endedMillis = 500;

export interface BackupOptions {
  readonly archive: Archive;
  readonly store: BackupStore;
  readonly service: { readonly name: string; readonly version: string };
  /** For how many days earlier states can be brought back. */
  readonly days: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is known of a backup, for metrics. */
export interface BackupFigures {
  /**
   * What was committed before is in the backup; milliseconds since 1970. Null if another process
   * keeps it, or nothing has been kept yet.
   */
  readonly keptAt: number | null;
  /**
   * Milliseconds since the backup had everything, or since this process began to keep it. Null if
   * another process does.
   */
  readonly behind: number | null;
  /** Bytes written to the backup. */
  readonly bytes: number;
  readonly deltas: number;
  readonly faults: number;
}

export class ContinuousBackup {
  readonly #options: BackupOptions;
  readonly #stopping = new AbortController();
  /** Ends what is under way, when a stop has waited for long enough. */
  readonly #ending = new AbortController();
  readonly #outage: Outage;
  readonly #unremoved: Outage;
  readonly #running: Promise<void>;
  #keptAt: number | null = null;
  #turnAt: number | null = null;
  /** Whether it has what was committed until the stop. */
  #hasLast = false;
  #bytes = 0;
  #deltas = 0;
  #faults = 0;

  /** Begins at once. `findSeries` tells beforehand whether the backup is this database's. */
  constructor(options: BackupOptions) {
    this.#options = options;
    this.#outage = tellOnce((reason) =>
      options.log.error(
        {},
        `the backup doesn't take what is committed, and is tried again: ${String(reason)}`,
      ),
    );
    this.#unremoved = tellOnce((reason) =>
      options.log.error({}, `the backup can't remove what is too old: ${String(reason)}`),
    );
    this.#running = this.#run();
  }

  get figures(): BackupFigures {
    const since = this.#keptAt ?? this.#turnAt;
    return {
      keptAt: this.#keptAt,
      behind: since === null ? null : Math.max(0, this.#options.clock.now() - since),
      bytes: this.#bytes,
      deltas: this.#deltas,
      faults: this.#faults,
    };
  }

  /** Waits a little for the backup to take what was committed last. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.race([this.#running, sleep(lastMillis, undefined, { ref: false })]);
    this.#ending.abort();
    // What can't be aborted ends with the process.
    await Promise.race([this.#running, sleep(endedMillis, undefined, { ref: false })]);
    if (this.#turnAt !== null && !this.#hasLast)
      this.#options.log.warn({}, "the backup lacks what was committed last");
  }

  async #run(): Promise<void> {
    const { archive } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        this.#turnAt ??= this.#options.clock.now();
        const turn = archive.takeTurn();
        if (turn !== null)
          try {
            await this.#keepOn();
          } finally {
            turn.release();
          }
        else [this.#turnAt, this.#keptAt] = [null, null];
      } catch (error) {
        this.#note(error);
      }
      await this.#pause(pauseMillis);
    }
  }

  /** Keeps the database until the service stops; rejects if it has to be begun again. */
  async #keepOn(): Promise<void> {
    const openedAt = this.#options.clock.now();
    const log = await this.#options.archive.open();
    const turn = new AbortController();
    try {
      const signal = AbortSignal.any([this.#ending.signal, turn.signal]);
      const kept = await this.#resume(log, openedAt, signal);
      try {
        await this.#keepUntilStopped(kept, log);
      } finally {
        turn.abort();
        await kept.idle();
        await kept.save();
      }
    } finally {
      await log.close();
    }
  }

  async #keepUntilStopped(kept: KeptDatabase, log: HeldLog): Promise<void> {
    while (!this.#stopping.signal.aborted)
      await this.#pause((await this.#keep(kept, log)) ? everyMillis : pauseMillis);
    // What came meanwhile.
    this.#hasLast = await this.#keep(kept, log);
  }

  async #resume(log: HeldLog, openedAt: number, signal: AbortSignal): Promise<KeptDatabase> {
    const { archive, store, service, days, clock } = this.#options;
    const kept = await KeptDatabase.resume({
      store,
      log,
      openedAt,
      database: archive.path,
      series: await findSeries(store, archive.path, signal),
      service,
      days,
      clock,
      signal,
      written: ({ bytes }) => {
        this.#bytes += bytes;
        this.#deltas += 1;
      },
      failed: (error, what) =>
        what === "writing" ? this.#note(error) : this.#unremoved.tell(tellReason(error)),
      emptied: () =>
        this.#options.log.warn(
          {},
          "the backup lacks what it had: all of it is written again; is BACKUP_URL right, its disk mounted?",
        ),
      crossed: () =>
        this.#options.log.error({}, "another service writes to the same backup: stop one of them"),
    });
    this.#noteKept(openedAt);
    return kept;
  }

  /** Says whether the backup has it all; rejects if it has to be begun again. */
  async #keep(kept: KeptDatabase, log: HeldLog): Promise<boolean> {
    try {
      this.#noteKept(await kept.keep());
      return true;
    } catch (error) {
      this.#note(error);
      if (error instanceof ArchiveGap || log.size > mostLogBytes) throw error;
      return false;
    }
  }

  #noteKept(at: number): void {
    this.#keptAt = at;
    this.#outage.end();
  }

  #note(error: unknown): void {
    if (this.#ending.signal.aborted) return;
    this.#faults += 1;
    this.#outage.tell(tellReason(error));
  }

  async #pause(millis: number): Promise<void> {
    const { signal } = this.#stopping;
    await sleep(millis, undefined, { signal }).catch(() => undefined);
  }
}
