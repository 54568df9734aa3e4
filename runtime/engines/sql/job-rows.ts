// Rows of runs of jobs, as they are read and written.
import type { ClaimedRun, NewRun, RunRecord, RunsAs, RunState } from "../../ports/jobs.js";
import type { SqlRecord } from "./records.js";
import { numberOrNull, textOrNull, type SqlRow } from "./session.js";

/** The members of a new run, in the order in which a statement has them. */
export const newRunFields = {
  id: "uuid",
  tenant_id: "text",
  job: "text",
  lane: "text",
  input: "text",
  shape: "text",
  runs_as: "text",
  principal_id: "uuid",
  actor_id: "uuid",
  scopes: "text",
  rank: "integer",
  run_key: "text",
  state: "text",
  due_at: "integer",
  planned_at: "integer",
  ready_at: "integer",
  created_at: "integer",
  max_attempts: "integer",
  traceparent: "text",
} as const;

/** Runs of one job in one tenant wait in one lane. */
export function laneOf(job: string, tenant: string): string {
  return `${job} ${tenant}`;
}

/** The job and the tenant of a lane. No job's name has a space. */
export function readLane(lane: string): { readonly job: string; readonly tenant: string } {
  const at = lane.indexOf(" ");
  return { job: lane.slice(0, at), tenant: lane.slice(at + 1) };
}

/** A new run as a record. One whose time has come is ready. */
export function newRunRow(
  run: NewRun,
): Readonly<Record<keyof typeof newRunFields, SqlRecord[string]>> {
  const { as, dueAt, createdAt } = run;
  const scopes = as.kind === "principal" ? as.scopes : null;
  const isLater = dueAt !== null && dueAt > createdAt;
  return {
    id: run.id,
    tenant_id: run.tenant,
    job: run.job,
    lane: laneOf(run.job, run.tenant),
    input: run.input,
    shape: run.shape,
    // A version that knows no scopes must not take it for all that the principal may.
    runs_as: scopes === null ? as.kind : "nobody",
    principal_id: as.kind === "principal" ? as.principalId : null,
    actor_id: as.kind === "principal" ? as.actorId : null,
    scopes: scopes === null ? null : JSON.stringify(scopes),
    rank: run.rank,
    run_key: run.key,
    state: isLater ? "scheduled" : "ready",
    due_at: isLater ? dueAt : null,
    planned_at: dueAt ?? createdAt,
    ready_at: isLater ? null : createdAt,
    created_at: createdAt,
    max_attempts: run.maxAttempts,
    traceparent: run.traceparent,
  };
}

/** The columns of a claimed run. */
export const claimedColumns =
  `"id", "tenant_id", "job", "input", "shape", "runs_as", "principal_id", "actor_id", "scopes", ` +
  `"claims", "attempts", "max_attempts", "planned_at", "has_steps", "traceparent"`;

export function readClaimedRun(row: SqlRow): Omit<ClaimedRun, "hasStanding"> {
  return {
    id: String(row["id"]),
    tenant: String(row["tenant_id"]),
    job: String(row["job"]),
    input: String(row["input"]),
    shape: String(row["shape"]),
    as: readRights(row),
    claim: Number(row["claims"]),
    attempt: Number(row["attempts"]),
    maxAttempts: Number(row["max_attempts"]),
    plannedAt: Number(row["planned_at"]),
    hasSteps: Number(row["has_steps"]) === 1,
    traceparent: textOrNull(row["traceparent"]),
  };
}

function readRights(row: SqlRow): RunsAs {
  const scopes = textOrNull(row["scopes"] ?? null);
  if (row["runs_as"] === "service") return { kind: "service" };
  if (row["runs_as"] === "nobody" && scopes === null) return { kind: "nobody" };
  return {
    kind: "principal",
    principalId: String(row["principal_id"]),
    actorId: textOrNull(row["actor_id"]),
    // Written by `newRunRow`.
    scopes: scopes === null ? null : (JSON.parse(scopes) as readonly string[]),
  };
}

/** The columns of a run that people look at. */
export const recordColumns = [
  "id",
  "tenant_id",
  "job",
  "input",
  "shape",
  "state",
  "run_key",
  "attempts",
  "created_at",
  "planned_at",
  "due_at",
  "ended_at",
  "progress",
  "error",
] as const;

export const recordColumnList = recordColumns.map((name) => `"${name}"`).join(", ");

export function readRunRecord(row: SqlRow): RunRecord {
  const state = String(row["state"]) as RunState;
  return {
    id: String(row["id"]),
    tenant: String(row["tenant_id"]),
    job: String(row["job"]),
    input: String(row["input"]),
    shape: String(row["shape"]),
    state,
    key: textOrNull(row["run_key"]),
    attempts: Number(row["attempts"]),
    createdAt: Number(row["created_at"]),
    plannedAt: Number(row["planned_at"]),
    // Of a running one it is the end of its lease.
    dueAt: state === "scheduled" ? numberOrNull(row["due_at"]) : null,
    endedAt: numberOrNull(row["ended_at"]),
    progress: textOrNull(row["progress"]),
    error: textOrNull(row["error"]),
  };
}
