// What follows a change of a document, whoever makes it: signals, and jobs that run for it later.
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec, Emission } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import { emitSignals, type DocumentChange } from "./emit.js";
import { moveReminders } from "./reminders.js";

/** Does what the document declares for a change; `change` is that of an update. */
export async function followChange(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Emission["on"],
  stored: StoredDocument,
  change: DocumentChange | null = null,
): Promise<void> {
  await moveReminders(spec, context, on, stored, change?.diff ?? null);
  await emitSignals(spec, context, on, stored, change);
}
