// The next revision of a document.
import type { ExecutionContext } from "../../operations/context.js";
import type { StoredDocument } from "../../ports/documents.js";

/** The time as documents have it. Those that are written together have the same. */
export function timeOf({ clock }: Pick<ExecutionContext, "clock">): string {
  return new Date(clock.now()).toISOString();
}

/** The document with a change, one revision on. */
export function nextRevision(
  { identity }: Pick<ExecutionContext, "identity">,
  current: StoredDocument,
  change: Partial<Pick<StoredDocument, "body" | "isDeleted">>,
  now: string,
): StoredDocument {
  return {
    ...current,
    ...change,
    rev: current.rev + 1,
    changedBy: identity?.principalId ?? null,
    lastUpdateAt: now,
  };
}
