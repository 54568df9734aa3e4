// What people hear of tasks: who is assigned, in the mailbox; every change, on the topic of its project.
import { outputValue, type ExecutionContext, type Output } from "opwright/runtime";
import { publishSignal, stageSignal } from "../../generated/signals.js";
import type { Task } from "../../generated/types/models.js";

/** A new task is told to who is assigned to it. */
export async function created(
  _input: unknown,
  context: ExecutionContext,
  output: Output<Task>,
): Promise<void> {
  await tell(context, outputValue(output), true);
}

/** So is a task that gets another assignee. */
export async function updated(
  input: { readonly patch: { readonly assignee?: string | null } },
  context: ExecutionContext,
  output: Output<{ readonly data: Task; readonly diff: object }>,
): Promise<void> {
  const { data, diff } = outputValue(output);
  if (Object.keys(diff).length > 0) await tell(context, data, "assignee" in diff);
}

export async function completed(
  _input: unknown,
  context: ExecutionContext,
  output: Output<Task>,
): Promise<void> {
  await tell(context, outputValue(output), false);
}

async function tell(context: ExecutionContext, task: Task, isAssigned: boolean): Promise<void> {
  const { assignee, project } = task;
  if (isAssigned && assignee != null)
    await stageSignal(context, "task.assigned", task, { principals: [assignee] });
  publishSignal(context, "task.changed", task, { topic: `project:${project}` });
}
