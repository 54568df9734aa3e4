// The family of jobs: work that begins later than what causes it, or at set times.
import { expansion, family } from "../../kernel/family.js";
import { nothingWatched, watchBacklog } from "../../kernel/monitoring.js";
import { ofGenerated } from "../../model/code.js";
import { documents } from "../documents/index.js";
import { storage } from "../storage/index.js";
import { compare } from "./compare.js";
import { jobDefaults } from "./defaults.js";
import { diagnostics } from "./diagnostics.js";
import { emitJobs } from "./emit.js";
import { expandJobRuns, jobsModel } from "./expand.js";
import { format } from "./format.js";
import { keptInputs, toldInputs } from "./inputs.js";
import { models } from "./model.js";
import { checkReminders } from "./reminders.js";
import { checkScans } from "./scans.js";
import { rollout } from "./rollout.js";
import { tables } from "./tables.js";

export const jobs = family({
  name: "jobs",
  format,
  diagnostics,
  defaults: jobDefaults,
  models,
  after: [documents, storage],
  expand(context) {
    const model = jobsModel(context);
    checkReminders(context, context.of(documents), model);
    checkScans(context, context.of(storage), model);
    return expansion(model, {
      namespaces: expandJobRuns(context, model),
      frozen: () => (Object.keys(model).length === 0 ? {} : { jobs: model }),
    });
  },
  compare,
  rollout,
  emit: emitJobs,
  told: toldInputs,
  keeps: keptInputs,
  tables: [{ areNeeded: (model) => model.jobs !== undefined, steps: tables }],
  watched: (model, metric) =>
    model.jobs === undefined
      ? nothingWatched
      : watchBacklog(
          {
            name: "Jobs",
            what: "runs of jobs",
            prefix: "opwright_jobs",
            page: "`server.js jobs` says which, `server.js jobs failed` why.",
          },
          metric,
        ),
  service: (model) =>
    model.jobs === undefined ? {} : { jobs: ofGenerated("job-handlers", "jobsSpec") },
});
