// The way from one stream of events to the next one of its device: nothing that both or either
// bring is lost or told twice.
import { ApiError } from "../core.js";
import { onAbort } from "../signals.js";
import { deviceReplaced, type Ending, type Receiver } from "./port.js";
import type { Heard } from "./place.js";

/** A stream under way, whose receiver changes hands. */
export interface Stream {
  receiver: Receiver;
  close(): void;
}

/**
 * How long an earlier stream is still read if nobody ends it, because it is on another process,
 * whose signals take the bus.
 */
const drainMillis = 1_000;
/** Signals that are remembered of the last moment. */
const maxRecent = 1_000;

/** Signals that a line has told lately: another process may be behind with the same. */
export class Recent {
  readonly #told: { readonly at: number; readonly signal: Heard }[] = [];

  add(signal: Heard): void {
    this.#told.push({ at: performance.now(), signal });
    if (this.#told.length > maxRecent) this.#told.shift();
  }

  since(time: number): readonly Heard[] {
    return this.#told.flatMap(({ at, signal }) => (at < time ? [] : [signal]));
  }
}

export interface HandoverOptions {
  readonly open: (receiver: Receiver) => Stream;
  /** That of the line. */
  readonly receiver: Receiver;
  /** The signals that it has received. */
  readonly recent: Recent;
  /** Aborts when the line is given up. */
  readonly leaving: AbortSignal;
}

/**
 * Opens a stream in place of an earlier one. Its signals wait until the earlier one has ended: the
 * service ends that as replaced at the moment in which the new one begins. Resolves with the new
 * stream. Rejects with `ApiError` if it is refused; then the earlier one goes on.
 */
export function handOver(
  earlier: Stream,
  { open, receiver, recent, leaving }: HandoverOptions,
): Promise<Stream> {
  const before = earlier.receiver;
  const begun = performance.now();
  const held: Heard[] = [];
  let [isOpen, isReplaced] = [false, false];
  let drained: ReturnType<typeof setTimeout> | undefined;
  let ending: Ending | undefined;
  return new Promise<Stream>((resolve, reject) => {
    const over = (): void => {
      clearTimeout(drained);
      forget();
    };
    const broken = (cause: Ending): void => {
      over();
      reject(new ApiError(cause.code ?? "client.network", cause.detail ?? "the stream ended"));
    };
    const finish = (): void => {
      over();
      earlier.close();
      next.receiver = withoutTold(receiver, recent.since(begun - drainMillis), isReplaced);
      for (const signal of held) next.receiver.signal(...signal);
      resolve(next);
      if (ending !== undefined) receiver.ended(ending);
    };
    const next = open({
      opened() {
        isOpen = true;
        if (isReplaced) finish();
        else drained = setTimeout(finish, drainMillis);
      },
      signal: (...signal) => void held.push(signal),
      ended(cause) {
        ending = cause;
        if (isOpen) return;
        earlier.receiver = before;
        broken(cause);
        if (isReplaced) receiver.ended({});
      },
    });
    earlier.receiver = {
      opened: () => undefined,
      signal: (...signal) => before.signal(...signal),
      ended(cause) {
        isReplaced = cause.code === deviceReplaced;
        if (isReplaced) return isOpen ? finish() : undefined;
        // Its remaining signals are lost: listeners have to read again.
        next.close();
        broken(cause);
        receiver.ended(cause);
      },
    };
    const forget = onAbort(leaving, () => broken({}));
  });
}

/**
 * Skips signals of the earlier stream. One process sends an ephemeral signal to only one of two
 * streams; another process may send it too, a moment later.
 */
function withoutTold(receiver: Receiver, told: readonly Heard[], isOneProcess: boolean): Receiver {
  const marks = told.filter(([, id]) => !isOneProcess || id !== null).map(markOf);
  const until = performance.now() + drainMillis;
  return {
    opened: () => receiver.opened(),
    signal(...signal) {
      const mark = markOf(signal);
      const at = performance.now() < until ? marks.findIndex((one) => isSame(one, mark)) : -1;
      if (at < 0) receiver.signal(...signal);
      else marks.splice(at, 1);
    },
    ended: (ending) => receiver.ended(ending),
  };
}

/** The identity of a signal: its id, or its content for signals of the plane itself. */
interface Mark {
  readonly id: string | undefined;
  readonly content: string;
}

function markOf([name, id, data, signalId]: Heard): Mark {
  return { id: id ?? signalId, content: `${name} ${JSON.stringify(data)}` };
}

/** Equal signals with ids of their own are two. */
function isSame(one: Mark, other: Mark): boolean {
  const haveIds = one.id !== undefined && other.id !== undefined;
  return haveIds ? one.id === other.id : one.content === other.content;
}
