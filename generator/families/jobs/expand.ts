// `jobs:` → jobs with the types of their inputs; `job_runs:` → the operations to look at runs.
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import { builtInNamespace, expandBuiltIn } from "../../kernel/built-in.js";
import type { FamilyContext, NamespaceExpansion } from "../../kernel/family.js";
import { formerNamesAreOwn } from "../../kernel/former-events.js";
import { hookChain } from "../../kernel/guards.js";
import { isSectionLeftOut } from "../../kernel/left-out.js";
import { resolveSchema } from "../../kernel/resolve.js";
import { durationSeconds } from "../../load/quantities.js";
import { functionReference, ofGenerated } from "../../model/code.js";
import {
  propertiesOf,
  referredType,
  requiredOf,
  type JsonSchema,
} from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import type { JobEntry } from "./format.js";
import { usualJob, type JobModel, type JobPlanModel } from "./model.js";
import { planOf } from "./plan.js";
import { jobRunTypes } from "./types.js";
import { jobRunVerbs } from "./verbs.js";

const mostRetries = 100;
const longestSeconds = 24 * 60 * 60;

/** The jobs of `jobs:`, sorted by name. Adds the types of their inputs to the table. */
export function jobsModel(context: FamilyContext): Readonly<Record<string, JobModel>> {
  const { declarations, tree } = context;
  const entries = Object.entries(declarations.jobs).sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  formerNamesAreOwn(context, "a job", declarations.jobs, (name) => tree.at("jobs", name, "was"));
  return Object.fromEntries(entries.map(([name, entry]) => [name, jobModel(context, name, entry)]));
}

function jobModel(context: FamilyContext, name: string, entry: JobEntry): JobModel {
  const { typeName, schema } = inputOf(context, name, entry);
  const { was, keep } = entry;
  checkUnique(context, name, entry, schema);
  return {
    summary: entry.summary ?? usualJob.summary,
    typeName,
    ...(was === undefined ? {} : { was }),
    run: functionReference(entry.run),
    retries: retriesOf(context, name, entry),
    timeoutSeconds: timeoutOf(context, name, entry),
    limit: limitOf(context, name, entry),
    unique: entry.unique ?? usualJob.unique,
    // Nobody has enqueued what runs by itself.
    as: entry.as ?? (entry.cron === undefined ? usualJob.as : "service"),
    keepSeconds: keep === undefined ? usualJob.keepSeconds : durationSeconds(keep),
    plan: checkedPlan(context, name, entry, schema),
  };
}

/** The type of the input, and what it consists of. */
function inputOf({ tree, types }: FamilyContext, name: string, entry: JobEntry) {
  const own = `${pascalCase(name)}JobInput`;
  const at = tree.at("jobs", name, "in");
  const given = types.readType(entry.in ?? {}, at, own);
  const referred = referredType(given);
  if (referred === undefined)
    types.table.add(own, given, entry.in === undefined ? tree.keyAt("jobs", name) : at);
  types.table.claim(`${pascalCase(name)}Job`, tree.keyAt("jobs", name));
  const schema = resolveSchema(given, (type) => types.table.schemas.get(type));
  return { typeName: referred ?? own, schema };
}

function retriesOf({ report, tree }: FamilyContext, name: string, { retries }: JobEntry): number {
  if (retries === undefined) return usualJob.retries;
  if (retries > mostRetries)
    report({
      code: "OPW013",
      message: `a job is tried again up to ${mostRetries} times`,
      at: tree.at("jobs", name, "retries"),
    });
  return retries;
}

function timeoutOf({ report, tree }: FamilyContext, name: string, { timeout }: JobEntry): number {
  if (timeout === undefined) return usualJob.timeoutSeconds;
  const seconds = durationSeconds(timeout);
  if (seconds > longestSeconds)
    report({
      code: "OPW013",
      message: "an attempt takes a day at most: what takes longer sleeps between its steps",
      at: tree.at("jobs", name, "timeout"),
    });
  return seconds;
}

function limitOf(
  { report, tree }: FamilyContext,
  name: string,
  { concurrency }: JobEntry,
): JobModel["limit"] {
  if (concurrency === undefined) return usualJob.limit;
  const { max, per = "service" } = concurrency;
  if (per === "key" && max !== 1)
    report({
      code: "OPW013",
      message: "of the runs with a key, one is under way at once: `{max: 1, per: key}`",
      at: tree.at("jobs", name, "concurrency", "max"),
    });
  return { max, per };
}

/** Reports members of `unique` that the input hasn't (OPW103). */
function checkUnique(
  { report, tree }: FamilyContext,
  name: string,
  { unique = [] }: JobEntry,
  schema: JsonSchema,
): void {
  const members = Object.keys(propertiesOf(schema));
  for (const [index, member] of unique.entries())
    if (!members.includes(member))
      report({
        code: "OPW103",
        message: `${name} takes no ${member}`,
        at: tree.at("jobs", name, "unique", index),
        suggestion: didYouMean(member, members),
      });
}

/**
 * When it runs by itself. Reports what only schedules have where there is none, inputs that nobody
 * would give (OPW104), and tenants that are not there (OPW057).
 */
function checkedPlan(
  context: FamilyContext,
  name: string,
  entry: JobEntry,
  schema: JsonSchema,
): JobPlanModel | null {
  const { report, tree, declarations } = context;
  const { cron } = entry;
  if (cron === undefined) {
    for (const member of ["timezone", "per", "missed"] as const)
      if (entry[member] !== undefined)
        report({
          code: "OPW104",
          message: `${name} has no \`cron\`, so \`${member}\` says nothing`,
          at: tree.at("jobs", name, member),
          hint: 'Say when it runs, such as `cron: "0 3 * * *"`, or leave it out.',
        });
    return null;
  }
  const [needed] = requiredOf(schema);
  if (needed !== undefined)
    report({
      code: "OPW104",
      message: `${name} runs by itself, and nobody gives it \`${needed}\``,
      at: tree.at("jobs", name, "in"),
      hint: "Leave the member out, make it optional, or enqueue another job from this one.",
    });
  if (
    entry.per === "tenant" &&
    declarations.tenancy === undefined &&
    !isSectionLeftOut(context, "tenancy")
  )
    report({
      code: "OPW057",
      message: "a job for each tenant needs `tenancy:`",
      at: tree.at("jobs", name, "per"),
    });
  return planOf(context, name, { ...entry, cron });
}

/** The operations of `job_runs:`, where they are declared. Reports them without jobs (OPW057). */
export function expandJobRuns(
  context: FamilyContext,
  jobs: Readonly<Record<string, JobModel>>,
): readonly NamespaceExpansion[] {
  const { declarations, tree, types, report } = context;
  const { job_runs: declared } = declarations;
  if (declared === undefined) return [];
  const at = tree.keyAt("job_runs");
  const names = Object.keys(jobs);
  if (names.length === 0) {
    if (!isSectionLeftOut(context, "jobs") && tree.root["jobs"] === undefined)
      report({ code: "OPW057", message: "job runs need `jobs:`", at });
    return [];
  }
  for (const [name, schema] of Object.entries(jobRunTypes)) types.table.add(name, schema, at);
  const { guard: policy } = declared;
  const hooks = hookChain(context, [{ policy, at: tree.at("job_runs", "guard") }], "job_runs");
  return builtInNamespace(
    { name: "job_runs", description: "Runs of jobs in the caller's tenant." },
    at,
    expandBuiltIn(
      context,
      {
        family: "jobs",
        handlers: "jobRuns",
        namespace: "job_runs",
        at,
        guard: { policy, hooks },
        spec: ofGenerated("jobs", "jobs"),
      },
      jobRunVerbs(names),
    ),
    { path: ["job_runs", "mount"], declared: declared.mount, usual: "/job_runs" },
  );
}
