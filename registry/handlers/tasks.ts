// Handlers of the author's own operations on tasks.
import { collection } from "opwright/runtime";
import { tasksSpec } from "../../generated/documents/tasks.js";
import type { TasksCompleteHandler } from "../../generated/types/tasks.js";

/** Marks a task as done at the given revision; the usual rules of updates hold. */
export const complete: TasksCompleteHandler = (input, context) =>
  collection(tasksSpec, context).update(input.id, input.rev, { state: "done" });
