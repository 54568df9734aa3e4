// Diagnostics of jobs.
import { entry } from "../../diagnostics/catalogue-entry.js";

export const diagnostics = {
  OPW103: entry(
    "Unique by nothing",
    "`unique` of a job names what is no member of its input.",
    "Name members of `in`.",
  ),
  OPW104: entry(
    "Job that cannot run by itself",
    "A job with `cron` takes what nobody would give, or a job without it says when it runs.",
    "Give it no required members, or no schedule.",
  ),
  OPW105: entry(
    "Impossible schedule",
    "`cron` is no pattern of five fields, or names no time that there will be; or `timezone` is not in the IANA database.",
    "Write minute, hour, day of the month, month and day of the week, such as `0 3 * * *`, and a zone such as Europe/Berlin.",
  ),
  OPW106: entry(
    "Reminder that cannot be given",
    "`remind` of a document names no job, a job that does not take the document's `id` alone, no date-time, or a job for a second time.",
    "Name a job whose `in` is `{id: uuid}`, and a field that is a `date-time`. For two times, declare two jobs.",
  ),
  OPW115: entry(
    "Scan that cannot be done",
    "`scan` of a storage names no job, or one that does not take the `upload` alone.",
    "Name a job whose `in` is `{upload: string}`.",
  ),
};

declare module "../../diagnostics/catalogue.js" {
  interface DiagnosticCodes extends Record<keyof typeof diagnostics, true> {}
}
