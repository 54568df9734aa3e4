// Runs of jobs that are added, cancelled, and begun anew.
import { nilUuid } from "../../contract/uuid.js";
import type { JobStore } from "../../ports/jobs.js";
import { laneOf, newRunFields, newRunRow } from "./job-rows.js";
import { recordsText } from "./records.js";
import type { SqlSession } from "./session.js";

const columns = Object.keys(newRunFields).map((name) => `"${name}"`);
const jobField = { path: "job", type: "string", isColumn: true } as const;
/** What a run takes of the one that would have waited beside it. */
const taken = [
  "input",
  "shape",
  "runs_as",
  "principal_id",
  "actor_id",
  "scopes",
  "rank",
  "state",
  "due_at",
  "planned_at",
  "ready_at",
  "max_attempts",
  "traceparent",
]
  .map((name) => `"${name}" = excluded."${name}"`)
  .join(", ");
/** The run has not ended. */
const open = `"ended_at" IS NULL`;
/** A run with its key that has not begun takes what the new one has. */
const isAlone = ` ON CONFLICT ("lane", "run_key") WHERE "run_key" IS NOT NULL AND "claims" = 0 AND ${open} DO UPDATE SET ${taken}`;
/** The run begins anew; whoever held it holds it no longer. */
const anew = (now: string): string =>
  `"state" = 'ready', "due_at" = NULL, "ended_at" = NULL, "kept_until" = NULL, "attempts" = 0, "claims" = "claims" + 1, "ready_at" = ${now}`;

/** The methods of the store of jobs that add runs and steer them, within one transaction. */
export function sqlJobChanges(
  session: SqlSession,
): Pick<
  JobStore,
  "removeOf" | "add" | "addAll" | "cancelByKey" | "cancel" | "retry" | "retryFailed"
> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const toCancelled = `"state" = 'cancelled', "due_at" = NULL, "ended_at" = ${at(3)}, "kept_until" = ${at(4)}`;
  return {
    async removeOf(principalId) {
      const theirs = `("principal_id" = ${at(1)} OR "actor_id" = ${at(1)})`;
      await session.run(
        `DELETE FROM "opwright_job_steps" WHERE "run_id" IN (SELECT "id" FROM "opwright_jobs" WHERE ${theirs})`,
        [principalId],
      );
      return session.run(`DELETE FROM "opwright_jobs" WHERE ${theirs}`, [principalId]);
    },

    async add(run) {
      const row = newRunRow(run);
      const rows = await session.all(
        `INSERT INTO "opwright_jobs" (${columns.join(", ")}) VALUES (${columns.map((_name, index) => at(index + 1)).join(", ")})` +
          `${run.key === null ? "" : isAlone} RETURNING "id"`,
        Object.values(row),
      );
      return String(rows[0]?.["id"]);
    },

    async addAll(runs) {
      if (runs.length === 0) return;
      await session.run(
        `INSERT INTO "opwright_jobs" (${columns.join(", ")}) SELECT ${columns.map((name) => `w.${name}`).join(", ")} ` +
          `FROM ${dialect.records(newRunFields, at(1))}${runs.some(({ key }) => key !== null) ? ` WHERE true${isAlone}` : ""}`,
        [recordsText(newRunFields, runs.map(newRunRow))],
      );
    },

    async cancelByKey({ tenant, jobs, key, except = nilUuid }, now, keptUntil) {
      let cancelled = 0;
      for (const job of jobs)
        cancelled += await session.run(
          `UPDATE "opwright_jobs" SET ${toCancelled} ` +
            `WHERE "lane" = ${at(1)} AND "run_key" = ${at(2)} AND "run_key" IS NOT NULL ` +
            `AND "id" <> ${at(5)} AND ${open}`,
          [laneOf(job, tenant), key, now, keptUntil, except],
        );
      return cancelled;
    },

    async cancel(tenant, id, now, keptUntil) {
      const changed = await session.run(
        `UPDATE "opwright_jobs" SET ${toCancelled} ` +
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
      const which = ` AND o.${dialect.isIn(jobField, at(2))}`;
      const failed = `"opwright_jobs" o WHERE o."state" = 'failed'${which} ORDER BY o."ended_at" LIMIT ${limit}`;
      return session.run(
        `UPDATE "opwright_jobs" SET ${anew(at(1))} WHERE ${dialect.isRowOf("o", failed)}`,
        [now, dialect.list(jobs)],
      );
    },
  };
}
