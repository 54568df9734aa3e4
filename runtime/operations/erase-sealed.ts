// Removing sealed texts that tell of somebody who is erased.
import type { ExecutionContext } from "./context.js";
import { isAbout, type Erased } from "./erased.js";
import type { Transaction } from "../ports/database.js";

/** A text that is sealed, and bound to its id. */
interface Sealed {
  readonly id: string;
  readonly payload: string;
}

const pageSize = 500;

/**
 * Walks sealed texts in the order of their ids, and removes those that name the person or one of
 * their documents; returns how many. What can't be opened any more tells nobody anything.
 */
export async function eraseSealed(
  context: ExecutionContext,
  who: Erased,
  walk: (
    transaction: Transaction,
    after: string | null,
    limit: number,
  ) => Promise<readonly Sealed[]>,
  remove: (transaction: Transaction, ids: readonly string[]) => Promise<void>,
): Promise<number> {
  let count = 0;
  let after: string | null = null;
  for (;;) {
    const page: readonly Sealed[] = await walk(context.transaction, after, pageSize);
    const theirs = page.filter(({ id, payload }) => isAbout(who, openSealed(context, payload, id)));
    const ids = theirs.map(({ id }) => id);
    if (ids.length > 0) await context.transact((transaction) => remove(transaction, ids));
    count += theirs.length;
    after = page.at(-1)?.id ?? null;
    if (page.length < pageSize) return count;
  }
}

function openSealed({ resources }: ExecutionContext, payload: string, id: string): string {
  try {
    return resources.sealer.open(payload, id);
  } catch {
    return "";
  }
}
