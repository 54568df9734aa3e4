// Gives staged signals their positions in mailboxes, after their commit: a reader could already
// have passed a position that was taken before it (architecture.md "Number after commit"). Shards
// are numbered beside each other, each by one process at a time.
import type { Resources } from "../../operations/resources.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { NumberedEntry } from "../../ports/mailbox.js";
import { mailboxStore } from "../../ports/mailbox.js";
import {
  drawFraction,
  monotonicMillis,
  sleep,
  startInterval,
  startTimer,
} from "../../ports/ambient.js";

/** Signals that one transaction numbers. */
const batchSize = 500;
/** Milliseconds for one such transaction. */
const batchMillis = 30_000;
/** Shards of a backlog that one process numbers at a time. On SQLite they share a commit. */
const shardsAtOnce = 4;
/** Signals that other processes staged but didn't number are found within so many milliseconds. */
const pollMillis = 1_000;
/** While another process numbers a shard, this one tries again after so many milliseconds. */
const busyMillis = 25;
/** After a failure, shards are numbered by themselves for so many milliseconds. */
const apartMillis = 10_000;
/** Milliseconds between two rounds, so that signals that arrive meanwhile are numbered together. */
const paceMillis = 5;

export interface Numbering {
  /** Called after a commit that staged something. */
  wake(): void;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

/** Numbers staged signals, and reports those that have their position. */
export function startNumbering(
  { database, log }: Pick<Resources, "database" | "log">,
  told: (entries: readonly NumberedEntry[]) => void,
): Numbering {
  let running: Promise<void> | undefined;
  const state = { isWanted: false, isStopped: false, isApartUntil: 0 };

  /** Numbers a batch of these shards; returns those that may have more. */
  const numberSome = async (shards: readonly number[]): Promise<readonly number[]> => {
    const { entries, unfinished, isBusy } = await database.write(
      { lifetime: Lifetime.within(batchMillis) },
      (transaction) => transaction.of(mailboxStore).number(shards, batchSize),
    );
    // The other one may have begun before this process's last commit.
    if (isBusy) startTimer(wake, busyMillis * (0.5 + drawFraction())).unref();
    if (entries.length > 0) told(entries);
    return unfinished;
  };
  /** Numbers them in one transaction, unless that has failed lately; returns what is left to do. */
  const numberTogether = async (shards: readonly number[]): Promise<readonly number[]> => {
    if (monotonicMillis() < state.isApartUntil) return shards;
    try {
      return await numberSome(shards);
    } catch (error) {
      state.isApartUntil = monotonicMillis() + apartMillis;
      log.warn({ err: error }, "staged signals are numbered shard by shard for a while");
      return shards;
    }
  };
  /** Numbers a batch of each by itself: what fails or holds up one does so to no other. */
  const numberEach = async (shards: readonly number[]): Promise<boolean> => {
    const left = [...shards];
    const failed: number[] = [];
    let fault: unknown;
    let isUnfinished = false;
    const work = async (): Promise<void> => {
      for (let shard = left.pop(); shard !== undefined; shard = left.pop())
        try {
          isUnfinished = (await numberSome([shard])).length > 0 || isUnfinished;
        } catch (error) {
          failed.push(shard);
          fault ??= error;
        }
    };
    await Promise.all(Array.from({ length: shardsAtOnce }, work));
    if (failed.length > 0)
      log.error({ err: fault, shards: failed }, "staged signals could not be numbered");
    return isUnfinished;
  };
  const numberAll = async (): Promise<void> => {
    while (state.isWanted && !state.isStopped) {
      state.isWanted = false;
      try {
        const waiting = shuffle(await database.reader.of(mailboxStore).stagedShards());
        // Mostly there are few signals, and one transaction numbers them all. Of a backlog, each
        // round numbers some, so that what comes to other shards meanwhile doesn't wait for it.
        const left = waiting.length === 0 ? [] : await numberTogether(waiting);
        if (await numberEach(left)) state.isWanted = true;
        else if (state.isWanted) await sleep(paceMillis);
      } catch (error) {
        log.error({ err: error }, "staged signals could not be looked for");
      }
    }
  };
  const wake = (): void => {
    state.isWanted = true;
    if (state.isStopped) return;
    running ??= numberAll().finally(() => {
      running = undefined;
      if (state.isWanted) wake();
    });
  };
  const timer = startInterval(wake, pollMillis).unref();
  wake();
  return {
    wake,
    async stop() {
      clearInterval(timer);
      state.isStopped = true;
      await running;
    },
  };
}

/** The shards in random order, so that processes begin with different ones. */
function shuffle(values: readonly number[]): number[] {
  return values
    .map((value) => [drawFraction(), value] as const)
    .sort(([left], [right]) => left - right)
    .map(([, value]) => value);
}
