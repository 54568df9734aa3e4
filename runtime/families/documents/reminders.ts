// Jobs that run for a document at the time of one of its fields: enqueued, moved and cancelled with
// the document, in its transaction (registry "remind").
import { defaultTenant } from "../../contract/default-tenant.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { AnyDocumentSpec, Emission, Reminder } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import { addRun, cancelRuns } from "../jobs/enqueue.js";
import { jobResources } from "../jobs/resources.js";
import { lastTime } from "../jobs/storable.js";
import { hasOneOf } from "./field-value.js";
import { documentText } from "./render.js";
import { showWhole } from "./visible.js";

type Body = Readonly<Record<string, unknown>>;

/**
 * Has the runs of a document's reminders follow a change of it; `diff` are the new members of an
 * update. A run has the document's id as its key and its input.
 */
export async function moveReminders(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  on: Emission["on"],
  stored: StoredDocument,
  diff: Body | null,
): Promise<void> {
  if (spec.reminders === undefined) return;
  const isGone = on === "delete" || on === "kill" || stored.isDeleted;
  const due = spec.reminders.filter(
    (one) => isGone || isTouched(on, one.field, diff) || isDecided(one, diff),
  );
  if (due.length === 0) return;
  const jobs = context.resources.of(jobResources);
  const document = isGone ? {} : (JSON.parse(documentText(spec, showWhole(stored))) as Body);
  // Documents that are no tenant's are written from any: one run follows each.
  const tenant = spec.tenant ? context.tenant : defaultTenant;
  for (const reminder of due) {
    const isFor = hasOneOf(document, reminder.where);
    const at = isFor ? timeOf(reminder, document) : null;
    // What is restored after its time, or counts again then, is not done again.
    const isOld = on === "restore" || !isTouched(on, reminder.field, diff);
    const isOver = isOld && at !== null && at.getTime() <= context.clock.now();
    if (at === null || isOver) await cancelRuns(jobs, context, reminder.job, stored.id, tenant);
    else
      await addRun(jobs, context, reminder.job, { id: stored.id }, { at, key: stored.id, tenant });
  }
}

/** Whether a change of a document may have changed the time. */
function isTouched(on: Emission["on"], field: string, diff: Body | null): boolean {
  if (on !== "update" || field === "last_update_at") return true;
  return diff !== null && Object.hasOwn(diff, field);
}

/** Whether a change of a document may have changed whether the reminder is for it. */
function isDecided({ where = {} }: Reminder, diff: Body | null): boolean {
  return Object.keys(where).some((path) => Object.hasOwn(diff ?? {}, path.split(".")[0] ?? path));
}

/** When the job runs; null if the document says no time, or one at which nothing runs any more. */
function timeOf({ field, offsetMillis }: Reminder, document: Body): Date | null {
  const text = document[field] ?? null;
  const time = typeof text === "string" ? Date.parse(text) + offsetMillis : NaN;
  return time <= lastTime ? new Date(time) : null;
}
