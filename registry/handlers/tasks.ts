// Handlers of the author's own operations on tasks.
import { collection } from "opwright/runtime";
import { tasksSpec } from "../../generated/documents/tasks.js";
import { stageEvent } from "../../generated/outbox.js";
import type { TasksCompleteHandler } from "../../generated/types/tasks.js";

/** Marks a task as done at the given revision, which webhooks are told; the usual rules of updates hold. */
export const complete: TasksCompleteHandler = async (input, context) => {
  const task = await collection(tasksSpec, context).update(input.id, input.rev, { state: "done" });
  await stageEvent(context, "tasks.completed", task);
  return task;
};
