// Jobs over SQL, shared by all SQL engines: runs as people look at them, and parts of the store.
import type { JobStore } from "../../ports/jobs.js";
import { sqlJobChanges } from "./job-changes.js";
import { sqlJobFigures } from "./job-figures.js";
import { sqlJobQueue } from "./job-queue.js";
import { readRunRecord, recordColumnList, recordColumns } from "./job-rows.js";
import { sqlJobSchedules } from "./job-schedules.js";
import { sqlJobSteps } from "./job-steps.js";
import type { SqlSession } from "./session.js";

const jobField = { path: "job", type: "string", isColumn: true } as const;

/** The store of jobs of one transaction. */
export function sqlJobStore(session: SqlSession): JobStore {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const named = (jobs: readonly string[] | null, position: number): string =>
    jobs === null ? "" : ` AND ${dialect.isIn(jobField, at(position))}`;
  return {
    async find(tenant, id) {
      const [row] = await session.all(
        `SELECT ${recordColumnList} FROM "opwright_jobs" WHERE "tenant_id" = ${at(1)} AND "id" = ${at(2)}`,
        [tenant, id],
      );
      return row === undefined ? null : readRunRecord(row);
    },

    async list({ tenant, jobs, state, before, limit }) {
      const parameters = [
        tenant,
        ...(before === null ? [] : [before]),
        ...(jobs === null ? [] : [dialect.list(jobs)]),
      ];
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

    async listOf(principalId, after, limit) {
      const later = after === null ? "" : ` AND "id" > ${at(2)}`;
      const rows = await session.scan(
        `SELECT ${recordColumnList} FROM "opwright_jobs" WHERE "principal_id" = ${at(1)}${later} ` +
          `ORDER BY "id" LIMIT ${limit}`,
        after === null ? [principalId] : [principalId, after],
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

    ...sqlJobChanges(session),
    ...sqlJobQueue(session),
    ...sqlJobSteps(session),
    ...sqlJobSchedules(session),
    ...sqlJobFigures(session),
  };
}
