// Jobs on projects.
import { collection } from "opwright/runtime";
import { tasksSpec } from "../../generated/documents/tasks.js";
import type { ProjectsFinishJob } from "../../generated/jobs.js";

/** How many tasks one step marks. */
const atOnce = 100;

/** Marks all tasks of a project as done, in steps: after a crash it goes on where it was. */
export const finish: ProjectsFinishJob = async ({ project }, _context, { commit, progress }) => {
  for (let step = 1, left = Infinity; left > 0; step += 1) {
    left = await commit(`tasks ${step}`, async (context) => {
      const tasks = collection(tasksSpec, context);
      const open = { filters: { $values: { project, state: ["open", "doing"] } } } as const;
      for (const { id, rev } of await tasks.find({ ...open, size: atOnce }))
        await tasks.update(id, rev, { state: "done" });
      return tasks.count(open);
    });
    await progress(left === 0 ? 1 : 0, `${left} tasks left`);
  }
};
