// What a running job keeps: the results of its steps, and how far it is.
import type { JobStore, RunHold } from "../../ports/jobs.js";
import { recordsText } from "./records.js";
import type { SqlSession } from "./session.js";

const listedFields = { id: "uuid" } as const;

/** Removes the results of the steps of these runs. */
export async function removeSteps(session: SqlSession, runs: readonly string[]): Promise<void> {
  if (runs.length === 0) return;
  const { dialect } = session;
  const listed = dialect.records(listedFields, dialect.placeholder(1));
  await session.run(
    `DELETE FROM "opwright_job_steps" WHERE "run_id" IN (SELECT w."id" FROM ${listed})`,
    [
      recordsText(
        listedFields,
        runs.map((id) => ({ id })),
      ),
    ],
  );
}

/** The methods of the store of jobs that a running job uses, within one transaction. */
export function sqlJobSteps(
  session: SqlSession,
): Pick<JobStore, "addStep" | "steps" | "setProgress"> {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  /** Changes a run only where it is held, so that whoever has lost it keeps nothing. */
  const change = async (hold: RunHold, set: string, ...values: string[]): Promise<boolean> =>
    (await session.run(
      `UPDATE "opwright_jobs" SET ${set} WHERE "id" = ${at(1)} AND "claims" = ${at(2)} AND "state" = 'running'`,
      [hold.id, hold.claim, ...values],
    )) === 1;

  return {
    async addStep(hold, name, result) {
      if (!(await change(hold, `"has_steps" = 1`))) return false;
      await session.run(
        `INSERT INTO "opwright_job_steps" ("run_id", "name", "result") VALUES (${at(1)}, ${at(2)}, ${at(3)})`,
        [hold.id, name, result],
      );
      return true;
    },

    async steps(id) {
      const rows = await session.all(
        `SELECT "name", "result" FROM "opwright_job_steps" WHERE "run_id" = ${at(1)}`,
        [id],
      );
      return new Map(rows.map((row) => [String(row["name"]), String(row["result"])]));
    },

    setProgress: (hold, progress) => change(hold, `"progress" = ${at(3)}`, progress),
  };
}
