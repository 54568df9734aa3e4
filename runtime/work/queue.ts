// A queue of claimed work: items wait in a store that several processes share. Each item is held by
// one process at a time, tried up to a number of attempts, and waits longer after each failure.
// What ends its process counts as an attempt, since a claim does.
import type { Clock } from "../ports/clock.js";
import type { Log } from "../ports/log.js";
import { waitMillis, type Backoff } from "./backoff.js";
import { startPoller, type Poller } from "./poller.js";

/** How long an item is held; an attempt and its record in the store take less. */
const leaseMillis = 30_000;

/** The end of an attempt. */
export interface AttemptEnd {
  /** Why it failed; null if it didn't. */
  readonly reason: string | null;
  /** Whether the other side has answered: the attempt counts even if the service stops. */
  readonly isAnswered: boolean;
  /** Whether a failure is the last one, however many attempts are left. */
  readonly isFinal: boolean;
}

/** Items whose attempts begin together. */
export interface Batch<Item> {
  readonly items: readonly Item[];
  /** Frees the room that they take. Called once all of them have ended. */
  end(): void;
}

export interface ClaimedWork<Item> {
  readonly batches: readonly Batch<Item>[];
  /** Whether there may be more to claim now. */
  readonly isMore: boolean;
}

/** Epoch milliseconds. */
export interface LeaseWindow {
  readonly now: number;
  readonly leaseUntil: number;
}

/** A use of the queue: its store, and the work. */
export interface QueueUse<Item extends { readonly attempt: number }, End extends AttemptEnd> {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** Lines of the log about the store: items can't be read, or the end of one can't be noted. */
  readonly messages: { readonly unread: string; readonly unnoted: string };
  /**
   * Claims due items for which there is room, in one transaction; null if there are none. Items
   * whose attempts have all begun, and not ended, are given up here.
   */
  claim(window: LeaseWindow): Promise<ClaimedWork<Item> | null>;
  /** Makes one attempt; `stopping` aborts when the service stops. Must not reject. */
  attempt(item: Item, stopping: AbortSignal): Promise<End>;
  /**
   * Notes an end at `at`. A failed item is due again at `dueAt`; null if it is done, or becomes a
   * dead letter.
   */
  settle(item: Item, end: End, at: number, dueAt: number | null): Promise<void>;
  /** Gives an item back whose attempt doesn't count, since this process has ended it. */
  release(item: Item, at: number): Promise<void>;
}

/** Starts to work on a queue. Several processes may do so on one store. */
export function startQueue<Item extends { readonly attempt: number }, End extends AttemptEnd>(
  use: QueueUse<Item, End>,
): Poller {
  const { clock, log, messages } = use;

  async function take(): Promise<boolean> {
    const now = clock.now();
    const claim = await use.claim({ now, leaseUntil: now + leaseMillis });
    for (const { items, end } of claim?.batches ?? [])
      poller.track(Promise.all(items.map(work)).then(end));
    return claim?.isMore ?? false;
  }

  async function work(item: Item): Promise<void> {
    try {
      const end = await use.attempt(item, poller.stopping);
      const at = clock.now();
      if (end.reason !== null && !end.isAnswered && poller.stopping.aborted) {
        await use.release(item, at);
        return;
      }
      const isOver = end.reason === null || end.isFinal || item.attempt >= use.maxAttempts;
      await use.settle(item, end, at, isOver ? null : at + waitMillis(use.backoff, item.attempt));
    } catch (error) {
      log.error({ err: error }, messages.unnoted);
    }
  }

  const poller = startPoller(take, (error) => log.error({ err: error }, messages.unread));
  poller.wake();
  return poller;
}
