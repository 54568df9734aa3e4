// What follows the end of a transaction.
import type { Log } from "../ports/log.js";

/** What is done once a transaction has ended. */
export interface Following {
  readonly work: () => void | Promise<void>;
}

/** What is done where a transaction has been undone, or the part of it that is `isUndone`. */
export interface Undoing extends Following {
  isUndone: boolean;
}

/** Does what follows a transaction whose outcome it changes no more; each has failed if `ended` throws behind it. */
export async function followed(
  { log, operationId }: { readonly log: Log; readonly operationId: string },
  followers: readonly Following[],
  ended: () => void = () => undefined,
): Promise<void> {
  for (const { work } of followers) {
    try {
      await work();
      ended();
    } catch (err) {
      log.error({ operation: operationId, err }, "what follows the transaction has failed");
    }
  }
}
