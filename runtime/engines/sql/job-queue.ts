// The queue of runs of jobs: what is ready and whose, what is claimed, and what became of it.
import type {
  ClaimedRun,
  JobClaim,
  JobStore,
  JobLane,
  LaneTurns,
  RunEnd,
  RunHold,
  RunLimit,
} from "../../ports/jobs.js";
import { tryHoldCount } from "./capped.js";
import { claimedColumns, laneOf, readClaimedRun, readLane } from "./job-rows.js";
import { removeSteps } from "./job-steps.js";
import { recordsText } from "./records.js";
import type { SqlRow, SqlSession } from "./session.js";
import { ownerStands, standsAs } from "./standing.js";

/** How many lanes one claim looks at. */
const lanesAtOnce = 256;
const holdFields = { id: "uuid", claim: "integer" } as const;
const listedFields = { id: "uuid" } as const;
const scheduleField = { path: "schedule", type: "string", isColumn: true } as const;
/** What is noted of a run whose last attempt ended without an outcome. */
const endedWithProcess = "the process ended while the job ran";

type Queue = Pick<JobStore, "work" | "ripen" | "claim" | "renew" | "settle">;

/** The methods of the store of jobs that work on the queue, within one transaction. */
export function sqlJobQueue(session: SqlSession): Queue {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);
  const { lanesAfter, take } = claimsOf(session);
  const settleAll = settlementOf(session);

  return {
    async work(schedules, now) {
      const [row] = await session.all(
        `SELECT (SELECT 1 FROM "opwright_jobs" WHERE "state" = 'ready' ORDER BY "lane" LIMIT 1) AS "ready", ` +
          `(SELECT 1 FROM "opwright_jobs" WHERE "due_at" <= ${at(1)} ORDER BY "due_at" LIMIT 1) AS "due", ` +
          `(SELECT 1 FROM "opwright_job_schedules" WHERE "next_at" <= ${at(1)} AND ${dialect.isIn(scheduleField, at(2))} LIMIT 1) AS "planned"`,
        [now, dialect.list(schedules)],
      );
      const has = (name: string): boolean => (row?.[name] ?? null) !== null;
      return { isReady: has("ready"), isDue: has("due"), isPlanned: has("planned") };
    },

    ripen(now, limit, keptUntil) {
      // What has failed for good keeps its row for as long as others that have.
      const isOver = `"state" = 'running' AND "attempts" >= "max_attempts"`;
      const when = (value: string, otherwise: string): string =>
        `CASE WHEN ${isOver} THEN ${value} ELSE ${otherwise} END`;
      const due = `"opwright_jobs" WHERE "due_at" <= ${at(1)} ORDER BY "due_at" LIMIT ${limit}${dialect.skipLocked}`;
      return session.run(
        `UPDATE "opwright_jobs" SET "state" = ${when("'failed'", "'ready'")}, "ready_at" = "due_at", "due_at" = NULL, ` +
          `"ended_at" = ${when(dialect.typed("integer", at(1)), `"ended_at"`)}, ` +
          `"kept_until" = ${when(dialect.typed("integer", at(2)), `"kept_until"`)}, ` +
          `"error" = CASE WHEN "state" = 'running' THEN ${dialect.typed("text", at(3))} ELSE "error" END ` +
          `WHERE "id" IN (SELECT "id" FROM ${due})`,
        [now, keptUntil, endedWithProcess],
      );
    },

    async claim({ leaseUntil, after, jobs, limits, turnsOf }) {
      const found = await lanesAfter(after ?? "");
      const known = found.filter(({ job }) => jobs.includes(job));
      const claimed: Omit<ClaimedRun, "hasStanding">[] = [];
      const chosen = turnsOf(await withRoom(session, known, limits));
      for (const turns of chosen)
        claimed.push(...(await take(turns, leaseUntil, limits[turns.job]?.per === "key")));
      const isAll = after === null && found.length < lanesAtOnce;
      const last = isAll ? null : lastLane(found, chosen);
      return { claimed: await withStanding(session, claimed), last };
    },

    async renew(holds, leaseUntil) {
      const rows = await session.all(
        `UPDATE "opwright_jobs" SET "due_at" = ${at(1)} WHERE "state" = 'running' AND ${isHeld(session, 2)} RETURNING "id"`,
        [leaseUntil, holdsText(holds)],
      );
      return rows.map(({ id }) => String(id));
    },

    settle: settleAll,
  };
}

/**
 * Where the next claim continues: behind the last lane that had a turn, so that all lanes have one
 * before any has two; null if none is behind it.
 */
function lastLane(found: readonly FoundLane[], chosen: readonly LaneTurns[]): string | null {
  const names = found.map(({ job, tenant }) => laneOf(job, tenant));
  const turns = new Set(chosen.map(({ job, tenant }) => laneOf(job, tenant)));
  const last = names.findLastIndex((name) => turns.has(name));
  const at = last === -1 ? names.length - 1 : last;
  const isEnd = at === names.length - 1 && names.length < lanesAtOnce;
  return isEnd ? null : (names[at] ?? null);
}

function holdsText(holds: readonly RunHold[]): string {
  return recordsText(
    holdFields,
    holds.map(({ id, claim }) => ({ id, claim })),
  );
}

/** The condition that nobody has claimed the run since. */
function isHeld({ dialect }: SqlSession, position: number): string {
  const rows = dialect.records(holdFields, dialect.placeholder(position));
  return `("id", "claims") IN (SELECT w."id", w."claim" FROM ${rows})`;
}

type FoundLane = Omit<JobLane, "room">;

/** Counts how many runs may begin under the limits: none where another process counts them now. */
async function withRoom(
  session: SqlSession,
  lanes: readonly FoundLane[],
  limits: JobClaim["limits"],
): Promise<readonly JobLane[]> {
  const rooms = new Map<string, { left: number }>();
  const roomOf = async ({ job, tenant }: FoundLane, { max, per }: RunLimit) => {
    const key = per === "service" ? job : laneOf(job, tenant);
    const known = rooms.get(key);
    if (known !== undefined) return known;
    // A process that stands still there must not hold up what has no limit.
    if (!(await tryHoldCount(session, "runs", key))) {
      const none = { left: 0 };
      rooms.set(key, none);
      return none;
    }
    // Counted with each run that is taken.
    if (per === "key") return null;
    const at = (position: number): string => session.dialect.placeholder(position);
    const isPerTenant = per === "tenant";
    const ofTenant = isPerTenant ? ` AND "tenant_id" = ${at(2)}` : "";
    const [row] = await session.all(
      `SELECT count(*) AS "count" FROM "opwright_jobs" WHERE "state" = 'running' AND "job" = ${at(1)}${ofTenant}`,
      isPerTenant ? [job, tenant] : [job],
    );
    const room = { left: Math.max(0, max - Number(row?.["count"] ?? 0)) };
    rooms.set(key, room);
    return room;
  };
  const counted: JobLane[] = [];
  for (const lane of lanes) {
    const limit = Object.hasOwn(limits, lane.job) ? limits[lane.job] : undefined;
    counted.push({ ...lane, room: limit === undefined ? null : await roomOf(lane, limit) });
  }
  return counted;
}

/** No other run with the key runs, or begins before it. */
const onlyWithKey =
  ` AND ("run_key" IS NULL OR NOT EXISTS (SELECT 1 FROM "opwright_jobs" r WHERE r."lane" = j."lane" ` +
  `AND r."run_key" = j."run_key" AND r."ended_at" IS NULL AND (r."state" = 'running' ` +
  `OR (r."state" = 'ready' AND (r."rank", r."id") < (j."rank", j."id")))))`;

/** The statements that look for lanes with ready runs, and claim some of them. */
function claimsOf(session: SqlSession) {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  /** Lanes with ready runs, in order. Each is found by one step in the index. */
  const lanesAfter = async (lane: string): Promise<readonly FoundLane[]> => {
    const next = (behind: string): string =>
      `(SELECT j."lane" FROM "opwright_jobs" j WHERE j."state" = 'ready' AND j."lane" > ${behind} ORDER BY j."lane" LIMIT 1)`;
    const rank =
      `(SELECT j."rank" FROM "opwright_jobs" j WHERE j."state" = 'ready' AND j."lane" = t."lane" ` +
      `ORDER BY j."rank", j."id" LIMIT 1)`;
    const rows = await session.all(
      `WITH RECURSIVE t("lane", "turn") AS (SELECT ${next(at(1))}, 1 ` +
        `UNION ALL SELECT ${next(`t."lane"`)}, t."turn" + 1 FROM t WHERE t."lane" IS NOT NULL AND t."turn" < ${lanesAtOnce}) ` +
        `SELECT t."lane", ${rank} AS "rank" FROM t WHERE t."lane" IS NOT NULL ORDER BY t."turn"`,
      [lane],
    );
    return rows.map((row) => ({
      ...readLane(String(row["lane"])),
      // None is left where another process has just taken the last one.
      rank: row["rank"] === null ? Infinity : Number(row["rank"]),
    }));
  };

  /** Claims the first runs of a lane; `isAlone` leaves those with the key of one that runs. */
  const take = async (turns: LaneTurns, leaseUntil: number, isAlone: boolean) => {
    const { highestRank } = turns;
    const upTo = highestRank === null ? "" : ` AND "rank" <= ${at(3)}`;
    const first =
      `SELECT "id" FROM "opwright_jobs" j WHERE "state" = 'ready' AND "lane" = ${at(1)}${upTo}${isAlone ? onlyWithKey : ""} ` +
      `ORDER BY "rank", "id" LIMIT ${turns.count}${dialect.skipLocked}`;
    const rows = await session.all(
      `UPDATE "opwright_jobs" SET "state" = 'running', "due_at" = ${at(2)}, "claims" = "claims" + 1, "attempts" = "attempts" + 1 ` +
        `WHERE "id" IN (${first}) RETURNING ${claimedColumns}`,
      [laneOf(turns.job, turns.tenant), leaseUntil, ...(highestRank === null ? [] : [highestRank])],
    );
    return rows.map(readClaimedRun);
  };

  return { lanesAfter, take };
}

/** Says of each run on whose behalf it runs whether that principal may still do anything. */
async function withStanding(
  session: SqlSession,
  runs: readonly Omit<ClaimedRun, "hasStanding">[],
): Promise<readonly ClaimedRun[]> {
  const ofPrincipals = runs.filter(({ as }) => as.kind === "principal");
  if (ofPrincipals.length === 0) return runs.map((run) => ({ ...run, hasStanding: true }));
  const { dialect } = session;
  const listed = dialect.records(listedFields, dialect.placeholder(1));
  const rows = await session.all(
    `SELECT w."id" FROM "opwright_jobs" w WHERE w."id" IN (SELECT w."id" FROM ${listed}) AND NOT (${ownerStands} AND (w."actor_id" IS NULL OR (${standsAs(`"actor_id"`)})))`,
    [
      recordsText(
        listedFields,
        ofPrincipals.map(({ id }) => ({ id })),
      ),
    ],
  );
  const fallen = new Set(rows.map(({ id }) => String(id)));
  return runs.map((run) => ({ ...run, hasStanding: !fallen.has(run.id) }));
}

/** The statements that note how attempts ended. */
function settlementOf(session: SqlSession): Queue["settle"] {
  const { dialect } = session;
  const at = (position: number): string => dialect.placeholder(position);

  const removeStepsOf = (rows: readonly SqlRow[]): Promise<void> =>
    removeSteps(
      session,
      rows.filter((row) => Number(row["has_steps"]) === 1).map(({ id }) => String(id)),
    );

  const remove = async (holds: readonly RunHold[]): Promise<readonly SqlRow[]> => {
    if (holds.length === 0) return [];
    const rows = await session.all(
      `DELETE FROM "opwright_jobs" WHERE "state" = 'running' AND ${isHeld(session, 1)} RETURNING "id", "has_steps"`,
      [holdsText(holds)],
    );
    await removeStepsOf(rows);
    return rows;
  };

  const change = async (
    hold: RunHold,
    set: string,
    values: readonly (string | number)[],
  ): Promise<readonly SqlRow[]> =>
    session.all(
      `UPDATE "opwright_jobs" SET ${set} WHERE "id" = ${at(1)} AND "claims" = ${at(2)} AND "state" = 'running' RETURNING "id", "has_steps"`,
      [hold.id, hold.claim, ...values],
    );

  const later = `"state" = 'scheduled', "due_at" = ${at(3)}`;
  const over = (state: string): string =>
    `"state" = '${state}', "due_at" = NULL, "ended_at" = ${at(3)}, "kept_until" = ${at(4)}`;

  const note = async (
    hold: RunHold,
    end: Exclude<RunEnd, { kind: "done"; keptUntil: null }>,
    now: number,
  ): Promise<readonly SqlRow[]> => {
    switch (end.kind) {
      case "sleeps":
        return change(hold, `${later}, "attempts" = "attempts" - 1`, [end.dueAt]);
      case "again":
        return change(hold, `${later}, "error" = ${at(4)}`, [end.dueAt, end.error]);
      case "released":
        return change(
          hold,
          `"state" = 'ready', "ready_at" = ${at(3)}, "due_at" = NULL, "attempts" = "attempts" - 1`,
          [now],
        );
      case "failed":
        return change(hold, `${over("failed")}, "error" = ${at(5)}`, [
          now,
          end.keptUntil,
          end.error,
        ]);
      case "done": {
        const rows = await change(hold, `${over("done")}, "error" = NULL`, [
          now,
          end.keptUntil ?? now,
        ]);
        await removeStepsOf(rows);
        return rows;
      }
    }
  };

  return async (ends, now) => {
    const removed = ends.filter(({ end }) => end.kind === "done" && end.keptUntil === null);
    const held = [...(await remove(removed))];
    for (const one of ends)
      if (!removed.includes(one)) held.push(...(await note(one, one.end, now)));
    return held.map(({ id }) => String(id));
  };
}
