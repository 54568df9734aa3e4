// How many runs of jobs there are, and which are removed by and by.
import type { JobStore, RunState } from "../../ports/jobs.js";
import { removeSteps } from "./job-steps.js";
import type { SqlSession } from "./session.js";

/** How many runs are counted at most. */
const mostCounted = 10_000;
/** Each counts along a partial index that has only the rows it is about. */
const counted: readonly (readonly [RunState, string])[] = [
  ["ready", "lane"],
  ["scheduled", "due_at"],
  ["running", "job"],
  ["failed", "ended_at"],
];

/** The methods of the store of jobs that count and tidy, within one transaction. */
export function sqlJobFigures(session: SqlSession): Pick<JobStore, "state" | "prune"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  return {
    async state(now) {
      const columns = counted.map(
        ([state, column]) =>
          `(SELECT count(*) FROM (SELECT 1 FROM "opwright_jobs" WHERE "state" = '${state}' ORDER BY "${column}" LIMIT ${mostCounted}) c) AS "${state}"`,
      );
      const [row] = await session.all(
        `SELECT ${columns.join(", ")}, ` +
          `(SELECT min("since") FROM (SELECT coalesce("ready_at", "planned_at") AS "since" FROM "opwright_jobs" WHERE "state" = 'ready' ORDER BY "lane" LIMIT ${mostCounted}) c) AS "oldest"`,
        [],
      );
      const number = (name: string): number => Number(row?.[name] ?? 0);
      const oldest = row?.["oldest"] ?? null;
      return {
        ready: number("ready"),
        scheduled: number("scheduled"),
        running: number("running"),
        failed: number("failed"),
        lagMillis: oldest === null ? 0 : Math.max(0, now - Number(oldest)),
      };
    },

    async prune(now, limit) {
      const old = `"opwright_jobs" o WHERE o."kept_until" <= ${at(1)} ORDER BY o."kept_until" LIMIT ${limit}`;
      const rows = await session.all(
        `DELETE FROM "opwright_jobs" WHERE ${dialect.isRowOf("o", old)} RETURNING "id"`,
        [now],
      );
      await removeSteps(
        session,
        rows.map(({ id }) => String(id)),
      );
      return rows.length === limit;
    },
  };
}
