// The next revision of a document.
import type { ExecutionContext } from "../../operations/context.js";
import type { StoredDocument } from "../../ports/documents.js";

/** The document with a change, one revision on and as of now. */
export function nextRevision(
  { clock, identity }: Pick<ExecutionContext, "clock" | "identity">,
  current: StoredDocument,
  change: Partial<Pick<StoredDocument, "body" | "isDeleted">>,
): StoredDocument {
  return {
    ...current,
    ...change,
    rev: current.rev + 1,
    changedBy: identity?.principalId ?? null,
    lastUpdateAt: new Date(clock.now()).toISOString(),
  };
}
