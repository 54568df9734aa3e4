// What changes of jobs take of a rollout: runs that wait are done by whichever version claims them.
import {
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import { byStoredName, type NamedEvent } from "../../compare/events.js";
import type { JobModel } from "./model.js";

const job: RolloutRules<NamedEvent<JobModel>> = {
  // Runs are stored under the first name.
  name: null,
  was: null,
  summary: null,
  // Compared with all that is kept.
  typeName: null,
  // Whoever claims a run calls the function that it knows.
  run: null,
  // Each run has its own since it was enqueued.
  retries: null,
  timeoutSeconds: null,
  limit: ({ name }) =>
    need(
      "clients meet both versions",
      `runs of ${name} are counted against the limit of whichever version begins them`,
    ),
  // A run that waits has its key already.
  unique: null,
  as: null,
  keepSeconds: null,
  plan: ({ name }) =>
    need(
      "clients meet both versions",
      `while both versions run, ${name} may run at a time of either`,
    ),
};

/** Jobs by the names under which their runs are stored. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const old = byStoredName(before.model.jobs ?? {});
  const next = byStoredName(after.model.jobs ?? {});
  const isNew = Object.keys(next).some((stored) => !Object.hasOwn(old, stored));
  return needsOfAll([old, next], job, [before, after], ({ name }, { name: stored }) =>
    need(
      "leaves stored things behind",
      `runs of ${name} that wait when the last older process ends are not begun: first roll out what enqueues none, then what does not declare it${isNew ? `; if it is called otherwise, say \`was: ${stored}\`` : ""}`,
    ),
  );
}
