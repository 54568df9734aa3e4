// `remind:` of a document: jobs that run at the time of a field. The family of jobs checks them.
import { durationSeconds } from "../../../load/quantities.js";
import type { ReminderModel } from "../../../model/document-model.js";
import type { DocumentDeclaration, ReminderDeclaration } from "../format.js";

/** The reminders of a document, in one form. */
export function remindersOf({ remind = [] }: DocumentDeclaration): readonly ReminderModel[] {
  const all = Array.isArray(remind)
    ? (remind as readonly ReminderDeclaration[])
    : [remind as ReminderDeclaration];
  return all.map(({ job, at: { field, minus, plus } }) => ({
    job,
    field,
    offsetSeconds: secondsOf(plus) - secondsOf(minus),
  }));
}

function secondsOf(duration: string | undefined): number {
  return duration === undefined ? 0 : durationSeconds(duration);
}
