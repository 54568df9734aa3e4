// `jobs:`: work that begins later, or at set times; and `job_runs:`, the operations to look at it.
import {
  duration,
  formerEvent,
  listOf,
  mapOf,
  mount,
  optional,
  jobReference,
  required,
  requiredGuard,
  text,
  timezone,
  typeOrFields,
} from "../../load/format-parts.js";
import { jobWords } from "./other-words.js";
import type { Declared, FormatShape, Member } from "../../load/shape.js";

const positive = { kind: "integer", minimum: 1 } as const satisfies FormatShape;

const memberName = {
  kind: "string",
  pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
  what: "a member of `in`",
  example: "file",
} as const satisfies FormatShape;

const concurrency = {
  kind: "object",
  members: {
    max: required(positive, "How many runs may be under way at once, in all processes."),
    per: optional(
      { kind: "oneOf", values: ["tenant", "key"] },
      "`tenant` counts those of each tenant, `key` those with each key, of which there is one at most.",
    ),
  },
} as const satisfies FormatShape;

const job = {
  kind: "object",
  otherWords: jobWords,
  members: {
    summary: optional(text, "One line for whoever reads the code.", "Make a smaller image."),
    in: optional(typeOrFields, "What it takes: fields, or a type's name.", { file: "uuid" }),
    run: required(jobReference, "Its function, as file#export."),
    was: optional(formerEvent, "What it was called first: runs that wait keep that name."),
    retries: optional(
      { kind: "integer", minimum: 0 },
      "How often it is tried again, at most 100; 5 where left out.",
    ),
    timeout: optional(duration, "How long an attempt may take, at most a day; 1m where left out."),
    concurrency: optional(concurrency, "How many runs may be under way at once."),
    unique: optional(
      listOf(memberName, 1),
      "Members of `in`: of runs that have not begun, one alone has the same values.",
      ["file"],
    ),
    as: optional(
      { kind: "oneOf", values: ["caller", "service"] },
      "Whose rights a run has: those of whoever enqueued it (`caller`, where left out), or all.",
    ),
    keep: optional(
      duration,
      "How long runs that are done can be looked at; they are removed at once where left out.",
    ),
    cron: optional(
      {
        kind: "string",
        pattern: /^\S+ \S+ \S+ \S+ \S+$/,
        what: "five fields such as 0 3 * * *: minute, hour, day, month, day of the week",
        example: "0 3 * * *",
      },
      "When it runs by itself.",
    ),
    timezone: optional(timezone, "The time zone of `cron`; UTC where left out."),
    per: optional(
      { kind: "oneOf", values: ["tenant"] },
      "`tenant` makes a run for each active tenant; one for the service where left out.",
    ),
    missed: optional(
      { kind: "oneOf", values: ["once", "skip", "all"] },
      "What becomes of times at which no process was there: one run for all (`once`, where left out), none, or one for each.",
    ),
  },
} as const satisfies FormatShape;

const runs = {
  kind: "object",
  members: {
    guard: requiredGuard({ kind: "name", of: "policies" }, "The policy of all operations."),
    mount: optional(mount, "Where the routes are; /job_runs where left out."),
  },
} as const satisfies FormatShape;

export type JobEntry = Declared<typeof job>;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly jobs: Readonly<Record<string, JobEntry>>;
    readonly job_runs: Declared<typeof runs> | undefined;
  }
}

/** The sections of the registry that this family reads. */
export const format: Readonly<Record<string, Member>> = {
  jobs: {
    ...optional(
      mapOf(
        job,
        /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/,
        "a job such as images.resize",
        "images.resize",
      ),
      "Work that begins later than what causes it, or at set times.",
    ),
    alsoCalled: ["cron", "tasks", "queues", "schedules", "workers", "background"],
  },
  job_runs: optional(runs, "Operations by which runs of jobs are looked at and steered."),
};
