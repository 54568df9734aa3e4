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
  retries: (before, after) => tellOther(`is tried again ${after} times`, before),
  timeoutSeconds: (before, after) => tellOther(`may take ${after} s an attempt`, `${before} s`),
  limit: (before, after) => tellOther(limitText(after), limitText(before)),
  unique: (before, after) => tellOther(`is alone by ${namesOf(after)}`, namesOf(before)),
  keepSeconds: (before, after) => tellOther(keptText(after), keptText(before)),
  plan: (before, after) => tellOther(planText(after), planText(before)),
  as: (_before, after) =>
    after === "service"
      ? [["opens", "runs with the service's rights instead of those of whoever enqueues it"]]
      : [["breaking", "runs with the rights of whoever enqueues it instead of the service's"]],
};

/** What operators notice, and no client. */
function tellOther(is: string, was: string | number) {
  return [["documentation", `${is} instead of ${was}`]] as const;
}

function namesOf(members: readonly string[]): string {
  return members.length === 0 ? "nothing" : members.join(" and ");
}

function limitText(limit: JobModel["limit"]): string {
  if (limit === null) return "any number at once";
  const within = { service: "", tenant: " in a tenant", key: " with a key" }[limit.per];
  return `at most ${limit.max} at once${within}`;
}

function keptText(seconds: number | null): string {
  return seconds === null ? "not kept once it is done" : `kept for ${seconds} s once it is done`;
}

function planText(plan: JobModel["plan"]): string {
  if (plan === null) return "only when it is enqueued";
  const { cron, timezone, isPerTenant, missed } = plan;
  const each = isPerTenant ? " for each tenant" : "";
  return `at ${cron} in ${timezone}${each}, missed times ${missed}`;
}

/** Reports what has changed of each job: whose rights its runs have, when, how often, how many. */
export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const tellOfJob = (name: string): Tell =>
    tellOf(note, { kind: "job", name, declared: ["jobs", name] }, "http", `job ${name}`);
  compareAll(before.jobs ?? {}, after.jobs ?? {}, job, tellOfJob);
}
