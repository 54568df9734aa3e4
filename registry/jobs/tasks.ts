// Jobs on tasks.
import { collection } from "opwright/runtime";
import { tasksSpec } from "../../generated/documents/tasks.js";
import type { TasksOverdueJob } from "../../generated/jobs.js";

/** Counts the tasks of a tenant that were due when it was planned, for the log. */
export const overdue: TasksOverdueJob = async (_input, context, { plannedAt }) => {
  const due = { $lt: plannedAt.toISOString() };
  const count = await collection(tasksSpec, context).count({
    filters: { $values: { due, state: ["open", "doing"] } },
  });
  context.log.info({ tenant: context.tenant, count }, "tasks are overdue");
};
