// What follows the end of a transaction.
import type { Log } from "../ports/log.js";
import type { Calls } from "./calls.js";
import { inTime, type Deciding } from "./in-time.js";

/** What is done once a transaction has ended. */
export interface Following {
  /** The function of the context that an author has given it to; undefined for work of the service itself. */
  readonly verb?: "whenCommitted" | "whenUndone" | undefined;
  readonly work: () => void | Promise<void>;
}

/** What is done where a transaction has been undone, or the part of it that is `isUndone`. */
export interface Undoing extends Following {
  isUndone: boolean;
}

/** The invocation whose transaction has ended. */
interface Followed extends Deciding {
  readonly log: Log;
  readonly operationId: string;
  readonly metadata: { readonly requestId: string };
  readonly calls: Calls;
}

/** Does what follows a transaction whose outcome it changes no more. */
export async function followed(context: Followed, followers: readonly Following[]): Promise<void> {
  for (const following of followers) {
    try {
      await followedInTime(context, following);
    } catch (err) {
      const { operationId: operation, metadata } = context;
      const line = { operation, requestId: metadata.requestId, err };
      context.log.error(line, "what follows the transaction has failed");
    }
  }
}

/** Fails if the work doesn't settle in time, or, where it is the author's, returns before what it has called is done. */
async function followedInTime(context: Followed, { work, verb }: Following): Promise<void> {
  if (verb === undefined) return inTime(context, "what follows the transaction", work);
  const by = `the work of context.${verb} in ${context.operationId}`;
  const first = context.calls.count;
  try {
    await inTime(context, by, work);
  } finally {
    context.calls.expectNoneOf(first, by);
  }
}
