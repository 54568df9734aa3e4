// A queue of claimed work: items wait in a store that several processes share. Each item is held by
// one process at a time, tried up to a number of attempts, and waits longer after each failure.
// What ends its process counts as an attempt, since a claim does.
import { monotonicMillis, runNextTurn, sleep } from "../ports/ambient.js";
import type { Clock } from "../ports/clock.js";
import { Lifetime } from "../ports/lifetime.js";
import type { Log } from "../ports/log.js";
import { waitMillis, type Backoff } from "./backoff.js";
import { startPoller, type Poller } from "./poller.js";

/** Milliseconds in which a use reads or writes its store, or gives up. */
export const storeMillis = 10_000;
/** Milliseconds that an attempt takes at most, where its use says nothing else. */
const usualPatienceMillis = 20_000;
/** How long an item is held: while it is claimed, tried, and its end is noted, with a margin. */
const usualLeaseMillis = storeMillis + usualPatienceMillis + storeMillis + 5_000;

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
  /** What is waited for, such as `the destination`: an attempt that takes too long says so. */
  readonly waitsFor: string;
  /** Attempts that may outlast their leases. */
  readonly long?: {
    /** How long an item is held without being renewed. */
    readonly leaseMillis: number;
    /** Milliseconds that an attempt takes at most. */
    patienceMillis(item: Item): number;
    /** Extends leases; returns the items that are still held. The attempts of others end. */
    renew(items: readonly Item[], leaseUntil: number): Promise<readonly Item[]>;
  };
  /**
   * Claims due items for which there is room, in one transaction; null if there are none. Items
   * whose attempts have all begun, and not ended, are given up here. Takes `storeMillis` at most.
   */
  claim(window: LeaseWindow): Promise<ClaimedWork<Item> | null>;
  /**
   * Makes one attempt. Its lifetime ends when its time is over and when the service stops; nobody
   * waits for it any longer then.
   */
  attempt(item: Item, lifetime: Lifetime): Promise<End>;
  /** The end of an attempt that has rejected, or whose lifetime has ended. */
  endBy(fault: unknown, item: Item): End;
  /**
   * Notes an end at `at`, within `storeMillis`. A failed item is due again at `dueAt`; null if it
   * is done, or becomes a dead letter. The failure of an attempt is nothing to an item whose next
   * attempt has begun: this process may have stood still for longer than its lease.
   */
  settle(item: Item, end: End, at: number, dueAt: number | null): Promise<void>;
  /**
   * Gives an item back whose attempt doesn't count, since this process has ended it. An item whose
   * next attempt has begun stays as it is.
   */
  release(item: Item, at: number): Promise<void>;
}

/** Starts to work on a queue. Several processes may do so on one store. */
export function startQueue<Item extends { readonly attempt: number }, End extends AttemptEnd>(
  use: QueueUse<Item, End>,
): Poller {
  const { clock, log, messages } = use;
  const leaseMillis = use.long?.leaseMillis ?? usualLeaseMillis;

  /** Attempts under way. */
  const underWay = new Map<Promise<void>, Held<Item>>();
  /** How to end an attempt whose item is held no longer. */
  const losing = new Map<Item, () => void>();

  async function take(): Promise<boolean> {
    await renewAll();
    await notedBy(clock.now());
    const now = clock.now();
    const leaseUntil = now + leaseMillis;
    const claim = await use.claim({ now, leaseUntil });
    for (const { items, end } of claim?.batches ?? []) {
      const work = Promise.all(items.map(workOn)).then(() => {
        underWay.delete(work);
        end();
      });
      underWay.set(work, { items, leaseUntil });
      poller.track(work);
    }
    return claim?.isMore ?? false;
  }

  /** Keeps attempts that may outlast their leases, and ends those whose items are lost. */
  async function renewAll(): Promise<void> {
    const { long } = use;
    if (long === undefined) return;
    const now = clock.now();
    const ending = [...underWay.values()].filter((one) => one.leaseUntil - now < leaseMillis / 2);
    const items = ending.flatMap((one) => one.items.filter((item) => losing.has(item)));
    if (items.length === 0) return;
    const leaseUntil = now + leaseMillis;
    const held = new Set(await long.renew(items, leaseUntil));
    for (const item of items) if (!held.has(item)) losing.get(item)?.();
    for (const one of ending) one.leaseUntil = leaseUntil;
  }

  /**
   * Where a clock has jumped over a lease, its attempt has ended as well, and what became of it is
   * noted before the item is claimed again.
   */
  async function notedBy(now: number): Promise<void> {
    const ended = [...underWay].filter(([, { leaseUntil }]) => leaseUntil <= now);
    if (ended.length === 0) return;
    const patience = sleep(storeMillis, undefined, { ref: false });
    await Promise.race([Promise.all(ended.map(([work]) => work)), patience]);
  }

  async function workOn(item: Item): Promise<void> {
    try {
      const end = await attempt(item);
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

  /** Resolves with the end of an attempt, also of one that goes on for ever. */
  async function attempt(item: Item): Promise<End> {
    const { caller, leave, off } = goneWith(poller.stopping);
    const patienceMillis = use.long?.patienceMillis(item) ?? usualPatienceMillis;
    const lifetime = Lifetime.until(monotonicMillis() + patienceMillis, caller, clock);
    losing.set(item, leave);
    try {
      return await new Promise<End>((resolve, reject) => {
        const overdue = (): void =>
          reject(new Error(`${use.waitsFor} took longer than ${patienceMillis / 1000} s`));
        // An attempt that heeds its lifetime says itself how it ended.
        const forget = lifetime.onOver(() => void runNextTurn(overdue));
        use.attempt(item, lifetime).finally(forget).then(resolve, reject);
      });
    } catch (fault) {
      return use.endBy(fault, item);
    } finally {
      losing.delete(item);
      off();
    }
  }

  const poller = startPoller(take, (error) => log.error({ err: error }, messages.unread));
  poller.wake();
  return poller;
}

/** Items whose attempts have begun together. */
interface Held<Item> {
  readonly items: readonly Item[];
  leaseUntil: number;
}

/** A caller that goes when the service stops or `leave` is called, and how to forget it. */
function goneWith(stopping: AbortSignal) {
  const left = { isGone: false };
  let told: (() => void) | undefined;
  const tell = (): void => told?.();
  const caller = {
    isGone: () => left.isGone || stopping.aborted,
    onGone(listener: () => void) {
      told = listener;
      stopping.addEventListener("abort", tell);
    },
  };
  const leave = (): void => {
    left.isGone = true;
    tell();
  };
  return { caller, leave, off: () => stopping.removeEventListener("abort", tell) };
}
