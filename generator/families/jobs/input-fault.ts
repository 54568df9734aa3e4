// Jobs that the service itself enqueues: each takes one text, by a name that is known.
import type { FamilyContext } from "../../kernel/family.js";
import { isLeftOut } from "../../kernel/left-out.js";
import { resolveSchema } from "../../kernel/resolve.js";
import { propertiesOf, refTo, requiredOf, type SchemaObject } from "../../model/json-schema.js";
import { own } from "../../model/records.js";
import type { JobModel } from "./model.js";

export type Jobs = Readonly<Record<string, JobModel>>;

/**
 * Why a job can't be given one text alone as this member; null if it can. `what` says which, and
 * `fits` whether it takes texts of that kind.
 */
export function inputFault(
  context: FamilyContext,
  jobs: Jobs,
  job: string,
  member: string,
  what: string,
  fits: (schema: SchemaObject) => boolean = () => true,
): string | null {
  const model = own(jobs, job);
  if (model === undefined) return isLeftOut(context, job, "jobs") ? null : `${job} is no job`;
  const resolve = (type: string) => context.types.table.schemas.get(type);
  const input = resolveSchema(refTo(model.typeName), resolve);
  const schema = resolveSchema(propertiesOf(input)[member] ?? false, resolve);
  const takesText = typeof schema === "object" && schema["type"] === "string" && fits(schema);
  const isAlone = requiredOf(input).every((one) => one === member);
  return takesText && isAlone ? null : `${job} does not take ${what} alone`;
}
