// Comments on tasks: heard by who is there, also called by realtime frames.
import { callerOf, collection } from "opwright/runtime";
import { tasksSpec } from "../../generated/documents/tasks.js";
import { publishSignal } from "../../generated/signals.js";
import type { TasksCommentHandler } from "../../generated/types/tasks.js";

/** Tells the project's topic who is writing; the task must be one that the caller may see. */
export const comment: TasksCommentHandler = async ({ task, text }, context) => {
  const { principalId: who } = callerOf(context);
  const { project } = await collection(tasksSpec, context).get(task);
  publishSignal(context, "task.typing", { task, who }, { topic: `project:${project}` });
  return { task, who, text };
};
