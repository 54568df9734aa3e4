// Schedules of jobs and when they are next due, and jobs that are paused.
import type { JobStore } from "../../ports/jobs.js";
import type { SqlSession } from "./session.js";

/** The methods of the store of jobs that are about schedules, within one transaction. */
export function sqlJobSchedules(
  session: SqlSession,
): Pick<
  JobStore,
  "schedules" | "beginSchedule" | "moveSchedule" | "endSchedule" | "pause" | "paused"
> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async schedules() {
      const rows = await session.all(
        `SELECT "job", "next_at", "rule" FROM "opwright_job_schedules" ORDER BY "job"`,
        [],
      );
      return rows.map((row) => ({
        job: String(row["job"]),
        nextAt: Number(row["next_at"]),
        rule: String(row["rule"]),
      }));
    },

    async beginSchedule({ job, nextAt, rule }) {
      await session.run(
        `INSERT INTO "opwright_job_schedules" ("job", "next_at", "rule") VALUES (${at(1)}, ${at(2)}, ${at(3)}) ON CONFLICT DO NOTHING`,
        [job, nextAt, rule],
      );
    },

    async moveSchedule(from, to) {
      const changed = await session.run(
        `UPDATE "opwright_job_schedules" SET "next_at" = ${at(4)}, "rule" = ${at(5)} ` +
          `WHERE "job" = ${at(1)} AND "next_at" = ${at(2)} AND "rule" = ${at(3)}`,
        [from.job, from.nextAt, from.rule, to.nextAt, to.rule],
      );
      return changed === 1;
    },

    async endSchedule(job) {
      await session.run(`DELETE FROM "opwright_job_schedules" WHERE "job" = ${at(1)}`, [job]);
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
