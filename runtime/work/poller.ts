// Work that waits in the database and is done outside a transaction: looked for when this process
// has added some, and about every second, for work that others have added or that is due again.
import { setMaxListeners } from "node:events";
import { drawFraction, sleep, startTimer } from "../ports/ambient.js";

export interface Poller {
  /** Something was put there: look now rather than at the next poll. */
  wake(): void;
  /** Counts work as under way until it has ended, which makes room for more. It must not reject. */
  track(work: Promise<void>): void;
  /** How much is under way. */
  readonly underWay: number;
  /** Aborts what is under way when the service stops; its reason is an error. */
  readonly stopping: AbortSignal;
  /**
   * Begins nothing more and waits for what is under way, up to so many milliseconds. What hasn't
   * ended after half of them, or after two seconds, is aborted.
   */
  stop(patienceMillis: number): Promise<void>;
}

const pollMillis = 1_000;
/** How long a stop waits for work to end by itself. */
const mostGraceMillis = 2_000;

/**
 * Starts polling. `take` begins the work that it finds, and says whether there may be more;
 * `failed` gets what it throws.
 */
export function startPoller(
  take: () => Promise<boolean>,
  failed: (error: unknown) => void,
): Poller {
  const underWay = new Set<Promise<void>>();
  const state = { isWanted: false, isStopped: false };
  const stopping = new AbortController();
  // All work under way listens to it.
  setMaxListeners(0, stopping.signal);
  let looking: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    while (state.isWanted && !state.isStopped) {
      state.isWanted = false;
      try {
        if (await take()) state.isWanted = true;
      } catch (error) {
        failed(error);
      }
    }
  };
  const wake = (): void => {
    state.isWanted = true;
    looking ??= look().finally(() => (looking = undefined));
  };
  // Processes that poll in step would leave everything to the one that is a little ahead.
  const pollAgain = (): NodeJS.Timeout =>
    startTimer(
      () => {
        poll = pollAgain();
        wake();
      },
      pollMillis * (0.75 + drawFraction() / 2),
    ).unref();
  let poll = pollAgain();
  return {
    wake,
    track(work) {
      const ended = work.then(() => {
        underWay.delete(ended);
        wake();
      });
      underWay.add(ended);
    },
    get underWay() {
      return underWay.size;
    },
    stopping: stopping.signal,
    async stop(patienceMillis) {
      state.isStopped = true;
      clearTimeout(poll);
      const done = (looking ?? Promise.resolve()).then(() => Promise.all(underWay));
      // It keeps the process alive: what is under way may wait for nothing that does.
      const within = (millis: number): Promise<unknown> => {
        const ended = new AbortController();
        const waited = sleep(millis, undefined, { signal: ended.signal }).catch(() => undefined);
        return Promise.race([done, waited]).finally(() => ended.abort());
      };
      const graceMillis = Math.min(patienceMillis / 2, mostGraceMillis);
      await within(graceMillis);
      stopping.abort(new Error("the service stopped"));
      await within(patienceMillis - graceMillis);
    },
  };
}
