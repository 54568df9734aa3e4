// Jobs over SQL, shared by all SQL engines: runs that are added, cancelled, tried again, looked at.
import type { JobStore } from "../../ports/jobs.js";
import { sqlJobFigures } from "./job-figures.js";
import { sqlJobQueue } from "./job-queue.js";
import {
  laneOf,
  newRunFields,
  newRunRow,
  readRunRecord,
  recordColumnList,
  recordColumns,
} from "./job-rows.js";
import { sqlJobSchedules } from "./job-schedules.js";
import { sqlJobSteps } from "./job-steps.js";
import { recordsText } from "./records.js";
import type { SqlSession } from "./session.js";

const columns = Object.keys(newRunFields).map((name) => `"${name}"`);
const jobField = { path: "job", type: "string", isColumn: true } as const;
/** What a run takes of the one that would have waited beside it. */
const taken = ["input", "shape", "runs_as", "principal_id", "actor_id", "rank", "state", "due_at", "planned_at", "max_attempts"]
  .map((name) => `"${name}" = excluded."${name}"`)
  .join(", ");
/** The run has not ended. */
const open = `"ended_at" IS NULL`;
/** The run begins anew; whoever held it holds it no longer. */
const anew = (now: string): string =>
  `"state" = 'ready', "due_at" = NULL, "ended_at" = NULL, "kept_until" = NULL, "attempts" = 0, "claims" = "claims" + 1, "planned_at" = ${now}`;

/** The store of jobs of one transaction. */
export function sqlJobStore(session: SqlSession): JobStore {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const named = (jobs: readonly string[] | null, position: number): string =>
    jobs === null ? "" : ` AND ${dialect.isIn(jobField, at(position))}`;
  return {
    async add(run) {
      const row = newRunRow(run);
      const isAlone =
        run.key === null
          ? ""
          : ` ON CONFLICT ("lane", "run_key") WHERE "run_key" IS NOT NULL AND "claims" = 0 AND "ended_at" IS NULL DO UPDATE SET ${taken}`;
      const rows = await session.all(
        `INSERT INTO "opwright_jobs" (${columns.join(", ")}) VALUES (${columns.map((_name, index) => at(index + 1)).join(", ")})` +
          `${isAlone} RETURNING "id"`,
        Object.values(row),
      );
      return String(rows[0]?.["id"]);
    },

    async addAll(runs) {
      if (runs.length === 0) return;
      await session.run(
        `INSERT INTO "opwright_jobs" (${columns.join(", ")}) SELECT ${columns.map((name) => `w.${name}`).join(", ")} ` +
          `FROM ${dialect.records(newRunFields, at(1))}`,
        [recordsText(newRunFields, runs.map(newRunRow))],
      );
    },

    async cancelByKey({ tenant, jobs, key }, now, keptUntil) {
      let cancelled = 0;
      for (const job of jobs)
        cancelled += await session.run(
          `UPDATE "opwright_jobs" SET "state" = 'cancelled', "due_at" = NULL, "ended_at" = ${at(3)}, "kept_until" = ${at(4)} ` +
            `WHERE "lane" = ${at(1)} AND "run_key" = ${at(2)} AND ${open}`,
          [laneOf(job, tenant), key, now, keptUntil],
        );
      return cancelled;
    },

    async cancel(tenant, id, now, keptUntil) {
      const changed = await session.run(
        `UPDATE "opwright_jobs" SET "state" = 'cancelled', "due_at" = NULL, "ended_at" = ${at(3)}, "kept_until" = ${at(4)} ` +
          `WHERE "tenant_id" = ${at(1)} AND "id" = ${at(2)} AND ${open}`,
        [tenant, id, now, keptUntil],
      );
      return changed === 1;
    },

    async retry(tenant, id, now) {
      const changed = await session.run(
        `UPDATE "opwright_jobs" SET ${anew(at(3))} WHERE "tenant_id" = ${at(1)} AND "id" = ${at(2)} ` +
          `AND "state" IN ('failed', 'cancelled')`,
        [tenant, id, now],
      );
      return changed === 1;
    },

    retryFailed(jobs, now, limit) {
      const which = jobs === null ? "" : ` AND o.${dialect.isIn(jobField, at(2))}`;
      const failed = `"opwright_jobs" o WHERE o."state" = 'failed'${which} ORDER BY o."ended_at" LIMIT ${limit}`;
      return session.run(
        `UPDATE "opwright_jobs" SET ${anew(at(1))} WHERE ${dialect.isRowOf("o", failed)}`,
        jobs === null ? [now] : [now, dialect.list(jobs)],
      );
    },

    async find(tenant, id) {
      const [row] = await session.all(
        `SELECT ${recordColumnList} FROM "opwright_jobs" WHERE "tenant_id" = ${at(1)} AND "id" = ${at(2)}`,
        [tenant, id],
      );
      return row === undefined ? null : readRunRecord(row);
    },

    async list({ tenant, jobs, state, before, limit }) {
      const parameters = [tenant, ...(before === null ? [] : [before]), ...(jobs === null ? [] : [dialect.list(jobs)])];
      const earlier = before === null ? "" : ` AND "id" < ${at(2)}`;
      // One of a fixed list.
      const inState = state === null ? "" : ` AND "state" = '${state}'`;
      const rows = await session.scan(
        `SELECT ${recordColumnList} FROM "opwright_jobs" WHERE "tenant_id" = ${at(1)}${earlier}` +
          `${named(jobs, parameters.length)}${inState} ORDER BY "id" DESC LIMIT ${limit}`,
        parameters,
        { stored: recordColumns },
      );
      return rows.map(readRunRecord);
    },

    async listFailed(jobs, limit) {
      const rows = await session.scan(
        `SELECT ${recordColumnList} FROM "opwright_jobs" WHERE "state" = 'failed'${named(jobs, 1)} ` +
          `ORDER BY "ended_at" DESC LIMIT ${limit}`,
        jobs === null ? [] : [dialect.list(jobs)],
        { stored: recordColumns },
      );
      return rows.map(readRunRecord);
    },

    ...sqlJobQueue(session),
    ...sqlJobSteps(session),
    ...sqlJobSchedules(session),
    ...sqlJobFigures(session),
  };
}
