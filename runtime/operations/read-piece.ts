// Reads of what is sent while it is read, such as exports.
import { Lifetime } from "../ports/lifetime.js";
import type { Transaction } from "../ports/database.js";
import type { ExecutionContext } from "./context.js";

/** How long one read may take, in milliseconds: a whole export has no deadline. */
const readMillis = 10_000;

/** Reads a piece of what is exported, at the expense of who asks. */
export function readPiece({ payer, resources }: ExecutionContext): Transaction {
  return resources.database.read({ lifetime: Lifetime.within(readMillis), payer });
}
