// `remind:` of a document: jobs that run at the time of a field. The family of jobs checks them.
import { durationSeconds } from "../../../load/quantities.js";
import type { FamilyContext } from "../../../kernel/family.js";
import type { DocumentModel, ReminderModel } from "../../../model/document-model.js";
import { listLayout, literal } from "../../../print/layout.js";
import type { DocumentDeclaration, ReminderDeclaration } from "../format.js";
import { storedValues, whereText } from "./some-values.js";

/** The reminders of a document, in one form. Reports fields of `where` that are not there. */
export function remindersOf(
  context: FamilyContext,
  name: string,
  { remind = [] }: DocumentDeclaration,
  model: Pick<DocumentModel, "fields" | "canonical">,
): readonly ReminderModel[] {
  const all = Array.isArray(remind)
    ? (remind as readonly ReminderDeclaration[])
    : [remind as ReminderDeclaration];
  return all.map(({ job, at: { field, minus, plus }, where = {} }, position) => ({
    job,
    field,
    offsetSeconds: secondsOf(plus) - secondsOf(minus),
    where: storedValues(context, model, where, [
      "documents",
      name,
      "remind",
      ...(Array.isArray(remind) ? [position] : []),
    ]),
  }));
}

/** The jobs that run at the time of a field, as a spec has them. */
export function remindersMember({ reminders }: DocumentModel): readonly string[] {
  const lines = reminders.map(({ job, field, offsetSeconds, where }) => {
    const members = { job, field, offsetMillis: offsetSeconds * 1_000 };
    const texts = Object.entries(members).map(([key, value]) => `${key}: ${literal(value)}`);
    return listLayout("    ", "", [...texts, ...whereText(where)], ["{", "}"], ",");
  });
  return lines.length === 0 ? [] : ["  reminders: [", ...lines, "  ],"];
}

function secondsOf(duration: string | undefined): number {
  return duration === undefined ? 0 : durationSeconds(duration);
}
