// Handlers of the author's own operations on projects.
import { enqueue } from "../../generated/jobs.js";
import type { ProjectsFinishHandler } from "../../generated/types/projects.js";

/** Has the tasks of a project marked as done by a job, whose run can be looked at. */
export const finish: ProjectsFinishHandler = async ({ project }, context) => ({
  run: await enqueue(context, "projects.finish", { project }),
});
