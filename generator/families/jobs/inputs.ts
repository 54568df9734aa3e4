// The checks of what jobs take, and their names in generated code.
import { refTo } from "../../model/json-schema.js";
import type { KeptValue } from "../../model/kept-values.js";
import type { RegistryModel } from "../../model/registry.js";
import type { ToldPlans } from "../../model/validator-plan.js";
import { camelNames } from "../../print/printed-names.js";

/** The module of these checks. No namespace can have this name, because of the hyphen. */
export const jobInputModule = "job-inputs";

/** The name of the check of each job's input. */
export function jobInputNames(jobs: object): ReadonlyMap<string, string> {
  return camelNames(Object.keys(jobs));
}

/** A check for the input of each job. */
export function toldInputs({ jobs }: RegistryModel): Readonly<Record<string, ToldPlans>> {
  if (jobs === undefined) return {};
  const names = jobInputNames(jobs);
  const plans = Object.entries(jobs).map(([job, { typeName }]) => ({
    name: names.get(job) ?? "",
    schema: refTo(typeName),
    typeName,
  }));
  return { [jobInputModule]: { holds: "jobInput", plans } };
}

/** The inputs of jobs, which wait until they run. */
export function keptInputs({ jobs = {} }: RegistryModel): readonly KeptValue[] {
  return Object.entries(jobs).map(([name, { typeName, was }]) => ({
    kind: "inputs",
    name,
    was,
    schema: refTo(typeName),
  }));
}
