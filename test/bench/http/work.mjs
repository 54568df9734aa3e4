// The work that every server of the HTTP bench does: 40 routes, one task read or made, in memory.
export const routeCount = 40;
export const tasks = new Map();
export const knownId = "01890000-0000-7000-8000-000000000001";

export const schema = {
  type: "object",
  additionalProperties: false,
  required: ["title", "project"],
  properties: {
    title: { type: "string", minLength: 1, maxLength: 200 },
    project: { type: "string", format: "uuid" },
    assignee: { type: ["string", "null"], format: "uuid" },
    due: { type: ["string", "null"], format: "date-time" },
    estimate: { type: "number", minimum: 0 },
    labels: { type: "array", items: { type: "string" } },
  },
};

export const payload = {
  title: "Write the checklist",
  project: "01890000-0000-7000-8000-000000000002",
  assignee: null,
  due: "2026-12-01T00:00:00Z",
  estimate: 3,
  labels: ["launch", "paper"],
};

let sequence = 0;

export function makeTask(input) {
  sequence += 1;
  const id = `01890000-0000-7000-8000-${String(sequence).padStart(12, "0")}`;
  const task = { id, rev: 1, ...input };
  if (tasks.size < 10_000) tasks.set(id, task);
  return task;
}

export const findTask = (id) => tasks.get(id);
makeTask(payload);
