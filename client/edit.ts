// Changes of a document that others change too: read, change, write where nobody has been quicker,
// else again.
import { ofCaller } from "./caller.js";
import { ApiError, type CallOptions, type Client } from "./core.js";

/** The namespace of a document, such as `tasks`. */
export interface Editable<Document, Patch> {
  readonly get: (
    client: Client,
    input: { readonly id: string },
    options?: CallOptions,
  ) => Promise<Document>;
  readonly update: (
    client: Client,
    input: { readonly id: string; readonly rev: number; readonly patch: Patch },
    options?: CallOptions,
  ) => Promise<{ readonly data: Document }>;
}

const attempts = 4;

/**
 * Patches a document as it is now: `await edit(tasks, client, id, (task) => ({ labels:
 * [...task.labels, "late"] }))`. Where it has another revision by the time of the write, it is read
 * and changed anew, up to four times. `change` returns undefined if there is nothing to do.
 */
export async function edit<Document extends { readonly rev: number }, Patch>(
  documents: Editable<Document, Patch>,
  client: Client,
  id: string,
  change: (current: Document) => Patch | undefined,
  // One key cannot stand for several writes.
  given: Omit<CallOptions, "idempotencyKey"> = {},
): Promise<Document> {
  const options = ofCaller(client, given);
  for (let attempt = 1; ; attempt += 1) {
    const current = await documents.get(client, { id }, options);
    const patch = change(current);
    if (patch === undefined) return current;
    try {
      const { data } = await documents.update(client, { id, rev: current.rev, patch }, options);
      return data;
    } catch (error) {
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}

const conflicts = [
  "precondition_failed",
  "revision_mismatch",
  "historical_consistency_violation",
  "history_not_found_retry",
  "core.concurrency",
];

/** Whether a write was refused because somebody else wrote first: read again, then retry. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && conflicts.includes(error.code);
}
