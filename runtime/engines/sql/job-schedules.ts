// Schedules of jobs and when they are next due, and jobs that are paused.
import type { JobStore } from "../../ports/jobs.js";
import type { SqlSession } from "./session.js";

const idField = { path: "schedule", type: "string", isColumn: true } as const;

/** The methods of the store of jobs that are about schedules, within one transaction. */
export function sqlJobSchedules(
  session: SqlSession,
): Pick<
  JobStore,
  "schedules" | "beginSchedule" | "moveSchedule" | "endSchedules" | "pause" | "paused"
> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async schedules(ids) {
      const rows = await session.all(
        `SELECT "schedule", "next_at" FROM "opwright_job_schedules" WHERE ${dialect.isIn(idField, at(1))} ORDER BY "schedule"`,
        [dialect.list(ids)],
      );
      return rows.map((row) => ({ id: String(row["schedule"]), nextAt: Number(row["next_at"]) }));
    },

    async beginSchedule({ id, nextAt }) {
      await session.run(
        `INSERT INTO "opwright_job_schedules" ("schedule", "next_at") VALUES (${at(1)}, ${at(2)}) ON CONFLICT DO NOTHING`,
        [id, nextAt],
      );
    },

    async moveSchedule({ id, nextAt: from }, nextAt) {
      const changed = await session.run(
        `UPDATE "opwright_job_schedules" SET "next_at" = ${at(3)} WHERE "schedule" = ${at(1)} AND "next_at" = ${at(2)}`,
        [id, from, nextAt],
      );
      return changed === 1;
    },

    async endSchedules(before, kept) {
      await session.run(
        `DELETE FROM "opwright_job_schedules" WHERE "next_at" < ${at(1)} AND NOT (${dialect.isIn(idField, at(2))})`,
        [before, dialect.list(kept)],
      );
    },

    async pause(job, when) {
      if (when === null)
        await session.run(`DELETE FROM "opwright_job_pauses" WHERE "job" = ${at(1)}`, [job]);
      else
        await session.run(
          `INSERT INTO "opwright_job_pauses" ("job", "paused_at") VALUES (${at(1)}, ${at(2)}) ON CONFLICT DO NOTHING`,
          [job, when],
        );
    },

    async paused() {
      const rows = await session.all(`SELECT "job" FROM "opwright_job_pauses" ORDER BY "job"`, []);
      return rows.map(({ job }) => String(job));
    },
  };
}
