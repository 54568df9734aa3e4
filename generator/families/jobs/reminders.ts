// `remind:` of documents: the job is there and takes the document's id, and the field is a time.
import { baseFields } from "../../../runtime/contract/fields.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../kernel/family.js";
import { isLeftOut } from "../../kernel/left-out.js";
import { resolveSchema } from "../../kernel/resolve.js";
import type { DocumentModel } from "../../model/document-model.js";
import { propertiesOf, refTo, requiredOf } from "../../model/json-schema.js";
import { own } from "../../model/records.js";
import type { JobModel } from "./model.js";

type Jobs = Readonly<Record<string, JobModel>>;

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
  const model = own(jobs, job);
  if (model === undefined) return isLeftOut(context, job, "jobs") ? null : `${job} is no job`;
  const resolve = (type: string) => context.types.table.schemas.get(type);
  const input = resolveSchema(refTo(model.typeName), resolve);
  const id = resolveSchema(propertiesOf(input)["id"] ?? false, resolve);
  const takesId = typeof id === "object" && id["type"] === "string";
  const isAlone = requiredOf(input).every((member) => member === "id");
  return takesId && isAlone ? null : `${job} does not take the \`id\` of ${name} alone`;
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
