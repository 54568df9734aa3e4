// What follows a change of a document, whoever makes it: an entry of the trail, signals, and jobs
// that run for it later.
import { storedName } from "../../contract/stored-members.js";
import { defaultTenant } from "../../contract/default-tenant.js";
import type { ExecutionContext } from "../../operations/context.js";
import { recordChange } from "../../operations/recorded.js";
import { clearableReferences, deletionStore, mayBeInvolved } from "../../ports/deletions.js";
import type { AnyDocumentSpec, Emission } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import { emitSignals, type DocumentChange } from "./emit.js";
import { moveReminders } from "./reminders.js";

/** The document whose deletion or restore has changed another one. */
export interface Occasion {
  readonly document: string;
  readonly id: string;
}

/** Notes a change for families that keep it; documents of all tenants are in none. */
export function recordDocument(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Emission["on"],
  stored: StoredDocument,
  change: Pick<DocumentChange, "diff"> | null,
  occasion: Occasion | null = null,
): void {
  const changed = {
    change: on,
    resource: spec.name,
    resourceId: stored.id,
    rev: stored.rev,
    fields: Object.keys(change?.diff ?? {}),
    details: occasion === null ? {} : { with: occasion },
  };
  recordChange(context, changed, spec.tenant ? context.tenant : defaultTenant);
}

/** As `followChange`, of an update of what is deleted: nobody hears of it, a restore finds it. */
export async function followDeleted(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  stored: StoredDocument,
  diff: DocumentChange["diff"],
  occasion: Occasion | null = null,
): Promise<void> {
  recordDocument(spec, context, "update", stored, { diff }, occasion);
  if (!mayBeInvolved(spec)) return;
  const deletions = context.transaction.of(deletionStore);
  await deletions.follow(spec, context.tenant, stored.id, stored.rev);
}

/** References that somebody has written since are no longer ones that a deletion has cleared. */
export async function forgetCleared(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  id: string,
  members: readonly string[],
): Promise<void> {
  const written = members.filter((member) => clearableReferences(spec).includes(member));
  if (written.length === 0) return;
  const stored = written.map((member) => storedName(spec.shape, member));
  const deletions = context.transaction.of(deletionStore);
  await deletions.forgetReferences(spec, context.tenant, id, stored);
}

/** Does what the document declares for a change; `change` is that of an update. */
export async function followChange(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Emission["on"],
  stored: StoredDocument,
  change: DocumentChange | null = null,
  occasion: Occasion | null = null,
): Promise<void> {
  recordDocument(spec, context, on, stored, change, occasion);
  if (change !== null && occasion === null)
    await forgetCleared(spec, context, stored.id, Object.keys(change.diff));
  await moveReminders(spec, context, on, stored, change?.diff ?? null);
  await emitSignals(spec, context, on, stored, change);
}
