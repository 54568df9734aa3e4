// Calls of the author's code, and the functions of the author's that make them: what is called has
// ended and been awaited when they return, and calls of one transaction take turns (decisions.md §4
// "Forgotten awaits").
import type { ExecutionContext } from "./context.js";
import { runTraced } from "./authored.js";
import { untilIdle } from "./calls.js";
import { Lifetime } from "../ports/lifetime.js";
import { inTurn, runPart, togetherInTurn } from "../work/in-turn.js";

/**
 * A call of the author's code; those of one transaction run one after another, in the order in
 * which they were begun.
 */
export function callInTurn<T>(
  context: ExecutionContext,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const { turns } = context;
  if (turns === null) return context.call(what, work);
  // The next one begins only once the author's code has gone on behind this one.
  return context.call(what, () => inTurn(turns, () => work().finally(untilIdle)));
}

/**
 * The same, for what may run the author's code in its turn: what that calls has turns of its own.
 */
export function callWithTurns<T>(
  context: ExecutionContext,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const { turns } = context;
  return callInTurn(context, what, turns === null ? work : () => runPart(turns, work));
}

/** The same, where calls of one kind that are begun one behind the other run at once. */
export function callTogether<T>(
  context: ExecutionContext,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const { turns } = context;
  return context.call(what, turns === null ? work : () => togetherInTurn(turns, work));
}

/**
 * Runs a function of the author's that is no step of an operation, such as the authorizer of
 * topics, with a context of its own. Rejects with `core.internal` if it returns before what it has
 * called is done and awaited; what it calls afterwards is refused and logged.
 */
export async function runHeld<T>(
  context: ExecutionContext,
  { name }: { readonly name: string },
  run: (context: ExecutionContext) => T | Promise<T>,
): Promise<T> {
  return holdCalls(context.apart, { name }, run);
}

/** How long one call of `readLater` may take. */
const laterMillis = 30_000;

/**
 * Runs a function behind the end of a handler, such as in a generator whose values are being sent.
 * Its context is the same caller's, with the same scopes; it reads committed state, outside of any
 * transaction, for 30 s at most. Rights that end meanwhile are not looked at again. Rejects with
 * `core.internal` if the function returns before what it has called is done and awaited. Throws
 * while the handler's own transaction is open, which it would wait for.
 */
export async function readLater<T>(
  context: ExecutionContext,
  read: (context: ExecutionContext) => Promise<T>,
): Promise<T> {
  if (context.holdsTransaction)
    throw new Error(
      "readLater waits for the transaction that this code is in: read by the context itself",
    );
  const own = context.behind(Lifetime.within(laterMillis));
  try {
    return await holdCalls(own, read, read);
  } finally {
    own.release();
  }
}

async function holdCalls<T>(
  own: ExecutionContext,
  { name }: { readonly name: string },
  run: (context: ExecutionContext) => T | Promise<T>,
): Promise<T> {
  own.begin(own);
  try {
    const made = await run(own);
    const held = own.heldAfter();
    if (held !== undefined) await held;
    own.expectAwaited({ name });
    return made;
  } catch (error) {
    throw own.abandonCalls(error);
  } finally {
    own.end();
  }
}

/**
 * Runs a step of an operation that is the author's, with the work that it has given outside a
 * transaction. Rejects with `core.internal` if it has left calls of its own behind.
 */
export async function runStep<T>(
  context: ExecutionContext,
  by: { readonly name: string },
  run: () => T | Promise<T>,
): Promise<T> {
  const { calls } = context;
  const first = calls.count;
  try {
    const made = await runTraced(context.trace, by, run);
    const held = context.heldAfter(first);
    if (held !== undefined) await held;
    context.expectAwaited(by, first);
    return made;
  } catch (error) {
    await context.heldAfter(first);
    throw calls.abandon(error, first);
  }
}
