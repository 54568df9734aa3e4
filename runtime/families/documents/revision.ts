// The next revision of a document.
import type { Clock } from "../../ports/clock.js";
import type { StoredDocument } from "../../ports/documents.js";

/** The document with a change, one revision on and as of now. */
export function nextRevision(
  clock: Clock,
  current: StoredDocument,
  change: Partial<Pick<StoredDocument, "body" | "isDeleted">>,
): StoredDocument {
  return {
    ...current,
    ...change,
    rev: current.rev + 1,
    lastUpdateAt: new Date(clock.now()).toISOString(),
  };
}
