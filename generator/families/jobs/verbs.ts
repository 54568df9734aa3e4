// The operations of job runs, as a table.
import { idInPath, type BuiltInVerb } from "../../kernel/built-in.js";
import { uuidSchema } from "../../model/json-schema.js";
import type { ParameterModel } from "../../model/registry.js";
import { runStates } from "./types.js";

/** The operations by name; lists can be narrowed to one of these jobs. */
export function jobRunVerbs(jobs: readonly string[]): readonly BuiltInVerb[] {
  const parameters: readonly ParameterModel[] = [
    oneOf("job", jobs, "The job whose runs are listed; all if left out."),
    oneOf("state", runStates, "The state of the runs that are listed; any if left out."),
    {
      name: "before",
      in: "query",
      type: "uuid",
      required: false,
      schema: { ...uuidSchema, description: "The last run of the page before." },
    },
  ];
  return [
    {
      name: "list",
      handler: "list",
      summary: "List runs of jobs, the newest first",
      route: ["GET", "/"],
      takesSpec: true,
      isWrite: false,
      parameters,
      output: "JobRunPage",
      errors: [],
    },
    {
      name: "get",
      handler: "get",
      summary: "Get a run of a job with its input",
      route: ["GET", "/{id}"],
      takesSpec: true,
      isWrite: false,
      parameters: [idInPath],
      output: "JobRunDetails",
      errors: ["core.not_found"],
    },
    {
      name: "cancel",
      handler: "cancel",
      summary: "Cancel a run of a job that has not ended",
      route: ["POST", "/{id}/cancel"],
      status: 204,
      takesSpec: false,
      isWrite: true,
      parameters: [idInPath],
      output: null,
      errors: ["core.not_found", "job_run_state"],
    },
    {
      name: "retry",
      handler: "retry",
      summary: "Have a run of a job begin anew that failed or was cancelled",
      route: ["POST", "/{id}/retry"],
      status: 204,
      takesSpec: false,
      isWrite: true,
      parameters: [idInPath],
      output: null,
      errors: ["core.not_found", "job_run_state"],
    },
  ];
}

function oneOf(name: string, values: readonly string[], description: string): ParameterModel {
  return {
    name,
    in: "query",
    type: "string",
    required: false,
    schema: { type: "string", enum: [...values], description },
  };
}
