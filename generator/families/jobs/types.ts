// The types that operations of job runs answer with.
import { objectSchema, refTo, uuidSchema, type JsonSchema } from "../../model/json-schema.js";

const time: JsonSchema = { type: "string", format: "date-time" };
const timeOrNull: JsonSchema = { type: ["string", "null"], format: "date-time" };

/** What becomes of a run. */
export const runStates = ["ready", "scheduled", "running", "done", "failed", "cancelled"] as const;

const run = {
  id: uuidSchema,
  job: { type: "string" },
  state: { type: "string", enum: [...runStates] },
  key: { type: ["string", "null"] },
  attempts: { type: "integer", minimum: 0 },
  progress: {
    anyOf: [
      objectSchema(
        {
          share: { type: "number", minimum: 0, maximum: 1 },
          text: { type: "string" },
        },
        ["share"],
      ),
      { type: "null" },
    ],
    description: "How far it is, as the job says.",
  },
  error: { type: ["string", "null"], description: "Why the last attempt failed." },
  created_at: time,
  planned_at: { ...time, description: "When it was to begin." },
  next_attempt_at: { ...timeOrNull, description: "When a run that waits for its time begins." },
  ended_at: timeOrNull,
} satisfies Readonly<Record<string, JsonSchema>>;

/** A closed object whose members are all required. */
const whole = (members: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  objectSchema(members, Object.keys(members));

/** The types by the names that they have in the registry. */
export const jobRunTypes: Readonly<Record<string, JsonSchema>> = {
  JobRun: whole(run),
  JobRunDetails: whole({ ...run, input: { description: "What the job was given." } }),
  JobRunPage: whole({
    runs: { type: "array", items: refTo("JobRun") },
    has_more: { type: "boolean" },
  }),
};
