// Calls of one transaction, one after another, whoever began them beside each other; a part of it
// has turns of its own.
import { fail, type ServiceError } from "../contract/errors.js";
import type { Transaction } from "../ports/database.js";

/** Calls that run at once, in one turn. */
interface Group {
  /** Settles when the turn begins. */
  readonly begins: Promise<void>;
  readonly calls: Promise<unknown>[];
}

/** Calls that wait for each other. */
interface Queue {
  /** Never rejects. */
  last: Promise<void>;
  /** The calls of the last turn, if others may join them. */
  group: Group | undefined;
  /** Whether what they write is about to be undone, so that none may begin. */
  isUndone: boolean;
}

/** The queues of a transaction and of the parts of it that are running, the innermost last. */
const queues = new WeakMap<Transaction, [Queue, ...Queue[]]>();

function queuesOf(transaction: Transaction): [Queue, ...Queue[]] {
  const known = queues.get(transaction) ?? [emptyQueue()];
  queues.set(transaction, known);
  return known;
}

function emptyQueue(): Queue {
  return { last: Promise.resolve(), group: undefined, isUndone: false };
}

function innermost(transaction: Transaction): Queue {
  const [first, ...parts] = queuesOf(transaction);
  return parts.at(-1) ?? first;
}

/**
 * Runs once those before it in the same part have: what is refused of one would be undone of
 * another beside it.
 */
export function inTurn<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  const queue = innermost(transaction);
  const turn = queue.last.then(() => begun(queue, work));
  queue.last = turn.then(doNothing, doNothing);
  queue.group = undefined;
  return turn;
}

/**
 * The same for calls that may run at once: those that are begun one behind the other share a turn.
 */
export function togetherInTurn<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  const queue = innermost(transaction);
  const group = (queue.group ??= { begins: queue.last, calls: [] });
  const call = group.begins.then(() => begun(queue, work));
  group.calls.push(call);
  // Those that have joined meanwhile have made the turn longer themselves.
  queue.last = Promise.allSettled(group.calls).then(doNothing);
  return call;
}

/**
 * Runs a part of a transaction, in its turn. What begins before it has begun waits until it has
 * ended, so it is not undone with it; what begins meanwhile is of the part, and has ended when this
 * settles. If the part fails, what has not begun is refused.
 */
export async function runPart<T>(transaction: Transaction, part: () => Promise<T>): Promise<T> {
  const all = queuesOf(transaction);
  const own = emptyQueue();
  all.push(own);
  try {
    return await part();
  } catch (error) {
    own.isUndone = true;
    throw error;
  } finally {
    await untilEnded(own);
    all.splice(all.indexOf(own), 1);
  }
}

function begun<T>({ isUndone }: Queue, work: () => Promise<T>): Promise<T> {
  return isUndone ? Promise.reject(undone()) : work();
}

async function untilEnded(queue: Queue): Promise<void> {
  for (let seen: unknown; seen !== queue.last;) {
    seen = queue.last;
    await queue.last;
  }
}

function doNothing(): void {
  // What has become of a turn is nothing to the next one.
}

function undone(): ServiceError {
  const cause = new Error("the work of context.commit in which the call was made has failed");
  return fail("core.internal", {}, { cause });
}
