// Which topics a caller may hear: `project:<id>` is for those who may read that project.
import { callerOf, collection, ServiceError, type TopicAuthorizer } from "opwright/runtime";
import { projectsSpec } from "../../generated/documents/projects.js";
import { may } from "../../generated/identity.js";

export const authorize: TopicAuthorizer = async (requested, context) => {
  callerOf(context);
  if (!(await may("projects.read", context))) return [];
  const granted: string[] = [];
  for (const topic of requested) {
    const [, id] = /^project:([0-9a-f-]{36})$/.exec(topic) ?? [];
    if (id !== undefined && (await exists(id, context))) granted.push(topic);
  }
  return granted;
};

async function exists(id: string, context: Parameters<TopicAuthorizer>[1]): Promise<boolean> {
  try {
    await collection(projectsSpec, context).get(id);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "core.not_found") return false;
    throw error;
  }
}
