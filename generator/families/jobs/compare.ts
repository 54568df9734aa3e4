// Compares the jobs of two registries. Clients meet their runs alone, whose operations are compared
// as others are; whoever reviews a change wants to know whose rights runs have.
import type { Comparison } from "../../compare/comparison.js";
import { compareAll, tellOf, type Rules, type Tell } from "../../compare/rules.js";
import type { RegistryModel } from "../../model/registry.js";
import type { JobModel } from "./model.js";

const job: Rules<JobModel> = {
  // What is kept of inputs is told of rollouts.
  typeName: null,
  was: null,
  run: null,
  summary: null,
  retries: null,
  timeoutSeconds: null,
  limit: null,
  unique: null,
  keepSeconds: null,
  plan: null,
  as: (_before, after) =>
    after === "service"
      ? [["opens", "runs with the service's rights instead of those of whoever enqueues it"]]
      : [["breaking", "runs with the rights of whoever enqueues it instead of the service's"]],
};

/** Reports jobs whose runs have other rights than before. */
export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const tellOfJob = (name: string): Tell =>
    tellOf(note, { kind: "job", name, declared: ["jobs", name] }, "http", `job ${name}`);
  compareAll(before.jobs ?? {}, after.jobs ?? {}, job, tellOfJob);
}
