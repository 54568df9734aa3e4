// Hooks around the author's own operations on tasks.
import { collection, fail, ServiceError, type ExecutionContext } from "opwright/runtime";
import { projectsSpec } from "../../generated/documents/projects.js";
import { tasksSpec } from "../../generated/documents/tasks.js";

/** Refuses to touch a task whose project is archived. A task may outlive its project. */
export async function notArchived(
  input: { readonly id: string },
  context: ExecutionContext,
): Promise<void> {
  const task = await collection(tasksSpec, context).get(input.id);
  try {
    const project = await collection(projectsSpec, context).get(task.project);
    if (project.archived) throw fail("core.domain", { reason: "the project is archived" });
  } catch (error) {
    if (error instanceof ServiceError && error.code === "core.not_found") return;
    throw error;
  }
}

/** Notes a completion, after it has been committed. */
export function log(
  input: { readonly id: string; readonly note?: string | null },
  context: ExecutionContext,
): void {
  context.log.info({ task: input.id, hasNote: input.note != null }, "task completed");
}
