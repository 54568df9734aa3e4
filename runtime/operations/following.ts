// Work behind the end of a transaction.
import type { Log } from "../ports/log.js";
import { authorLine } from "./author-lines.js";
import type { Calls } from "./calls.js";
import { inTime, type Deciding } from "./in-time.js";
import { endWith, type TraceSpan } from "../ports/tracer.js";

/** Work that runs once a transaction has ended. */
export interface Following {
  /** The author's work; undefined for work of the service itself. */
  readonly given: Given | undefined;
  readonly work: () => void | Promise<void>;
  /**
   * Of what is done where a transaction is undone: whether the part of it is in which it was given.
   */
  isUndone?: boolean;
}

/** By which function of the context an author has given work, and where. */
export interface Given {
  readonly verb: "whenCommitted" | "whenUndone";
  readonly trace: Error;
}

/** Work that an author has given. */
interface GivenWork extends Following {
  readonly given: Given;
}

/** The invocation whose transaction has ended. */
interface Followed extends Deciding {
  readonly log: Log;
  readonly operationId: string;
  readonly metadata: { readonly requestId: string };
  readonly calls: Calls;
  readonly trace: TraceSpan | null;
}

/** Remembers the author's line that gives work just now. */
export function givenBy(verb: Given["verb"]): Given {
  return { verb, trace: new Error(verb) };
}

/** Runs the work behind a transaction whose outcome it no longer changes. */
export async function runFollowers(
  context: Followed,
  followers: readonly Following[],
): Promise<void> {
  for (const { given, work } of followers) {
    try {
      if (given === undefined) await inTime(context, "what follows the transaction", work);
      else await followedInTime(context, { given, work });
    } catch (error) {
      tell(context, given, error);
    }
  }
}

/**
 * Does work that follows no transaction. An author's goes on beside the code that has given it,
 * which ends only with it: what that calls at the same time is none of this work's, so whoever ends
 * that code looks at the calls of both.
 */
export function followNow(context: Followed, { work, given }: Following): void {
  if (given === undefined) void runFollowers(context, [{ work, given }]);
  else context.calls.hold(followedBeside(context, { work, given }));
}

async function followedBeside(context: Followed, { work, given }: GivenWork): Promise<void> {
  try {
    await inTime(context, byOf(context, given), partOf(context, given, work));
  } catch (error) {
    tell(context, given, error);
  }
}

/** Fails if the work doesn't settle in time, or returns before what it has called is done. */
async function followedInTime(context: Followed, { work, given }: GivenWork): Promise<void> {
  const by = byOf(context, given);
  const first = context.calls.count;
  try {
    await inTime(context, by, partOf(context, given, work));
    await context.calls.heldAfter(first);
  } finally {
    context.calls.expectNoneOf(first, by);
  }
}

/** The work as a part of its trace. */
function partOf({ trace }: Followed, { verb }: Given, work: Following["work"]): Following["work"] {
  if (trace === null) return work;
  return () => endWith(trace.begin(verb, "internal"), (span) => span.within(async () => work()));
}

/** What of the author's it is. */
function byOf({ operationId }: Followed, { verb }: Given): string {
  return `the work of context.${verb} in ${operationId}`;
}

/**
 * Has the log say what has failed, and at which line of the author's: where it was thrown, or else
 * where it was given.
 */
function tell(context: Followed, given: Given | undefined, err: unknown): void {
  const { operationId: operation, metadata, log } = context;
  const at = authorLine(err) ?? authorLine(given?.trace);
  const line = {
    operation,
    requestId: metadata.requestId,
    ...(at === undefined ? {} : { at }),
    err,
  };
  log.error(line, "what follows the transaction has failed");
}
