// The tables of jobs: runs, results of their steps, schedules, pauses.
import { addColumn, index, present, type SystemTables } from "../../print/system-steps.js";
import { types } from "../../print/ddl-parts.js";

const isReady = `"state" = 'ready'`;

/** The steps that make and later change these tables, in order. */
export const tables: SystemTables = (engine) => {
  const type = types[engine];
  return {
    opwright_job_pauses: {
      columns: [`"job" ${type.text} PRIMARY KEY`, `"paused_at" ${type.number} NOT NULL`],
    },
    opwright_job_schedules: {
      columns: [`"schedule" ${type.text} PRIMARY KEY`, `"next_at" ${type.number} NOT NULL`],
    },
    opwright_job_steps: {
      columns: [
        `"run_id" ${type.uuid} NOT NULL`,
        `"name" ${type.text} NOT NULL`,
        `"result" ${type.text} NOT NULL`,
        `PRIMARY KEY ("run_id", "name")`,
      ],
    },
    opwright_jobs: {
      columns: [
        `"id" ${type.uuid} PRIMARY KEY`,
        `"tenant_id" ${type.text} NOT NULL`,
        `"job" ${type.text} NOT NULL`,
        `"lane" ${type.text} NOT NULL`,
        `"input" ${type.text} NOT NULL`,
        `"shape" ${type.text} NOT NULL`,
        `"runs_as" ${type.text} NOT NULL`,
        `"principal_id" ${type.uuid}`,
        `"actor_id" ${type.uuid}`,
        `"rank" INTEGER NOT NULL`,
        `"run_key" ${type.text}`,
        `"state" ${type.text} NOT NULL`,
        `"due_at" ${type.number}`,
        `"planned_at" ${type.number} NOT NULL`,
        `"created_at" ${type.number} NOT NULL`,
        `"claims" INTEGER NOT NULL DEFAULT 0`,
        `"attempts" INTEGER NOT NULL DEFAULT 0`,
        `"max_attempts" INTEGER NOT NULL`,
        `"has_steps" INTEGER NOT NULL DEFAULT 0`,
        `"kept_until" ${type.number}`,
        `"ended_at" ${type.number}`,
        `"progress" ${type.text}`,
        `"error" ${type.text}`,
      ],
    },
    // Each has only the rows that it is about, so that a backlog slows nothing else down.
    "opwright_jobs.queue": [
      index("opwright_jobs_by_lane", "opwright_jobs", `"lane", "rank", "id"`, isReady),
      index("opwright_jobs_by_due", "opwright_jobs", `"due_at"`, present("due_at")),
      index("opwright_jobs_running", "opwright_jobs", `"job", "tenant_id"`, `"state" = 'running'`),
      index("opwright_jobs_failed", "opwright_jobs", `"ended_at"`, `"state" = 'failed'`),
      index("opwright_jobs_by_kept", "opwright_jobs", `"kept_until"`, present("kept_until")),
      index("opwright_jobs_by_tenant", "opwright_jobs", `"tenant_id", "id"`),
      `CREATE UNIQUE INDEX "opwright_jobs_by_key" ON "opwright_jobs" ("lane", "run_key") ` +
        `WHERE "run_key" IS NOT NULL AND "claims" = 0 AND "ended_at" IS NULL;`,
      index(
        "opwright_jobs_by_open_key",
        "opwright_jobs",
        `"lane", "run_key"`,
        `${present("run_key")} AND "ended_at" IS NULL`,
      ),
      // A queue leaves dead rows behind all the time, and grows slow with them.
      ...(engine === "postgres"
        ? [
            `ALTER TABLE "opwright_jobs" SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);`,
          ]
        : []),
    ],
    "opwright_jobs.scopes": [addColumn("opwright_jobs", `"scopes" ${type.text}`)],
    // When it became ready; an earlier version leaves it out.
    "opwright_jobs.ready": [addColumn("opwright_jobs", `"ready_at" ${type.number}`)],
    "opwright_jobs.trace": [addColumn("opwright_jobs", `"traceparent" ${type.text}`)],
  };
};
