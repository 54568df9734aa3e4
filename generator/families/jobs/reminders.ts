// `remind:` of documents: the job is there and takes the document's id, and the field is a time.
import { baseFields } from "../../../runtime/contract/fields.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../kernel/family.js";
import type { DocumentModel } from "../../model/document-model.js";
import { own } from "../../model/records.js";
import { inputFault, type Jobs } from "./input-fault.js";

/** Reports reminders of documents that cannot be given (OPW106). */
export function checkReminders(
  context: FamilyContext,
  documents: ReadonlyMap<string, DocumentModel>,
  jobs: Jobs,
): void {
  for (const document of documents.values())
    for (const [index, { job, field }] of document.reminders.entries()) {
      const at = (member: "job" | "at") => placeOf(context, document.name, index, member);
      const fault = jobFault(context, document, index, jobs);
      if (fault !== null) {
        const suggestion = didYouMean(job, Object.keys(jobs));
        context.report({
          code: "OPW106",
          message: fault,
          at: at("job"),
          suggestion: Object.hasOwn(jobs, job) ? undefined : suggestion,
        });
      }
      const fields = { ...document.fields, ...baseFields };
      // Of the document itself: what is within a member changes with all of it.
      const times = Object.keys(fields).filter(
        (name) => own(fields, name) === "date-time" && !name.includes("."),
      );
      if (!times.includes(field))
        context.report({
          code: "OPW106",
          message: `${field} is no date-time of ${document.name}`,
          at: at("at"),
          suggestion: didYouMean(field, times),
        });
    }
}

function jobFault(
  context: FamilyContext,
  { name, reminders }: DocumentModel,
  index: number,
  jobs: Jobs,
): string | null {
  const job = reminders[index]?.job ?? "";
  if (reminders.findIndex((one) => one.job === job) < index)
    return `${job} reminds of ${name} already`;
  return inputFault(context, jobs, job, "id", `the \`id\` of ${name}`);
}

function placeOf(
  { tree, declarations }: FamilyContext,
  name: string,
  index: number,
  member: string,
) {
  const isList = Array.isArray(declarations.documents[name]?.remind);
  return tree.at("documents", name, "remind", ...(isList ? [index] : []), member);
}
