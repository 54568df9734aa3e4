// The port of jobs: runs that wait, run, or have ended; the results of their steps; schedules.
import { storeKey } from "./store-key.js";

/**
 * Whose rights a run has: the service's own, nobody's (an anonymous caller's), or those of a
 * principal, with its actor if it had one.
 */
export type RunsAs =
  | { readonly kind: "service" }
  | { readonly kind: "nobody" }
  | {
      readonly kind: "principal";
      readonly principalId: string;
      readonly actorId: string | null;
      /** The permissions that its credential was for; null for all. */
      readonly scopes: readonly string[] | null;
    };

/**
 * `ready` runs begin as soon as there is room; `scheduled` ones wait for their time: because it was
 * said, because they sleep, or because they have failed and are tried again.
 */
export type RunState = "ready" | "scheduled" | "running" | "done" | "failed" | "cancelled";

/** A run that is added. Times in this file are epoch milliseconds. */
export interface NewRun {
  readonly id: string;
  readonly tenant: string;
  readonly job: string;
  /** JSON text. */
  readonly input: string;
  /** The shape in which the input is kept (operations/kept-values.ts). */
  readonly shape: string;
  readonly as: RunsAs;
  /** Smaller ones begin first. */
  readonly rank: number;
  /**
   * Among the runs of its job in its tenant that have not begun, the only one with this key; null
   * if there may be any number.
   */
  readonly key: string | null;
  /** When it is to begin; null for at once. */
  readonly dueAt: number | null;
  readonly createdAt: number;
  readonly maxAttempts: number;
  /** Where what adds it is in a trace, as W3C `traceparent`; null if it is in none. */
  readonly traceparent: string | null;
}

/** A run that has been claimed, with everything that this takes. */
export interface ClaimedRun {
  readonly id: string;
  readonly tenant: string;
  readonly job: string;
  readonly input: string;
  readonly shape: string;
  readonly as: RunsAs;
  /** Whether its principal is active and a member, and its tenant is active. */
  readonly hasStanding: boolean;
  /** How often it has been claimed: whoever has an earlier number holds it no longer. */
  readonly claim: number;
  /** The number of this attempt, counted from 1. Sleeping does not count. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** When it was to begin. */
  readonly plannedAt: number;
  /** Whether results of steps are kept. */
  readonly hasSteps: boolean;
  readonly traceparent: string | null;
}

/** A run as its holder has it. */
export type RunHold = Pick<ClaimedRun, "id" | "claim">;

/** How an attempt ended. */
export type RunEnd =
  /** `keptUntil` is null if nothing of the run is kept. */
  | { readonly kind: "done"; readonly keptUntil: number | null }
  | { readonly kind: "failed"; readonly keptUntil: number; readonly error: string }
  /** It sleeps. */
  | { readonly kind: "sleeps"; readonly dueAt: number }
  /** It failed, and is tried again. */
  | { readonly kind: "again"; readonly dueAt: number; readonly error: string }
  /** The service stopped: the attempt does not count. */
  | { readonly kind: "released" };

/** A run as people look at it. */
export interface RunRecord {
  readonly id: string;
  readonly tenant: string;
  readonly job: string;
  readonly input: string;
  readonly shape: string;
  readonly state: RunState;
  readonly key: string | null;
  readonly attempts: number;
  readonly createdAt: number;
  readonly plannedAt: number;
  /** When it is next tried; null if it is ready, runs or has ended. */
  readonly dueAt: number | null;
  readonly endedAt: number | null;
  readonly progress: string | null;
  /** Why the last attempt failed. */
  readonly error: string | null;
}

/**
 * How many runs may be running at once, in all processes: of a job, of it in each tenant, or of it
 * with each key in a tenant, which is one.
 */
export interface RunLimit {
  readonly max: number;
  readonly per: "service" | "tenant" | "key";
}

/** Runs to choose from: those of one job in one tenant. */
export interface JobLane {
  readonly job: string;
  readonly tenant: string;
  /** The rank of the first one. */
  readonly rank: number;
  /** How many may begin, shared with other lanes of the limit; null for any number. */
  readonly room: { left: number } | null;
}

/** A share of a lane that is claimed. */
export interface LaneTurns {
  readonly job: string;
  readonly tenant: string;
  /** How many runs at most. */
  readonly count: number;
  /** Runs of higher ranks are left to other lanes; null if there are none. */
  readonly highestRank: number | null;
}

export interface JobClaim {
  readonly leaseUntil: number;
  /** The last lane that was looked at; null begins with the first one. */
  readonly after: string | null;
  /** Jobs that this process may begin; others are left to those that know them. */
  readonly jobs: readonly string[];
  /** Limits by job. Until the transaction ends, nobody else counts what runs under them. */
  readonly limits: Readonly<Record<string, RunLimit>>;
  /** How many runs of which lanes are claimed. */
  turnsOf(lanes: readonly JobLane[]): readonly LaneTurns[];
}

export interface ClaimedRuns {
  readonly claimed: readonly ClaimedRun[];
  /** Continue after this lane; null if all have been looked at. */
  readonly last: string | null;
}

/** What there is to do. */
export interface JobWork {
  /** Whether a run is ready. */
  readonly isReady: boolean;
  /** Whether the time of a scheduled run has come, or a lease is over. */
  readonly isDue: boolean;
  /** Whether one of the schedules is due. */
  readonly isPlanned: boolean;
}

/**
 * When a schedule is next due. Its id is the job with the pattern and the zone, so that versions
 * with other ones have schedules of their own.
 */
export interface JobSchedule {
  readonly id: string;
  readonly nextAt: number;
}

/** How many runs there are, each counted up to 10 000. */
export interface JobState {
  readonly ready: number;
  readonly scheduled: number;
  readonly running: number;
  readonly failed: number;
  /** How long the oldest ready run has waited, in milliseconds. */
  readonly lagMillis: number;
}

/** Which runs of a tenant are listed. */
export interface RunQuery {
  readonly tenant: string;
  /** Names of jobs; null for all. */
  readonly jobs: readonly string[] | null;
  readonly state: RunState | null;
  /** The last run of the page before. */
  readonly before: string | null;
  readonly limit: number;
}

/** The key of the store below. */
export const jobStore = storeKey<JobStore>("jobs");

/** Jobs within one transaction. */
export interface JobStore {
  /** Removes all runs that somebody has caused, or acted in; returns how many. */
  removeOf(principalId: string): Promise<number>;
  /**
   * Adds a run. If one with its key has not begun, that one takes its input, time, rank and rights.
   * Returns the id of the run that waits.
   */
  add(run: NewRun): Promise<string>;
  /** Adds runs, as `add` does; no two of them have the same key in a tenant. */
  addAll(runs: readonly NewRun[]): Promise<void>;
  /** Ends the runs of a job with a key that have not ended, but for one. Returns how many. */
  cancelByKey(
    where: {
      readonly tenant: string;
      readonly jobs: readonly string[];
      readonly key: string;
      readonly except?: string | undefined;
    },
    now: number,
    keptUntil: number,
  ): Promise<number>;
  /** Ends a run that has not ended; returns whether it was there. */
  cancel(tenant: string, id: string, now: number, keptUntil: number): Promise<boolean>;
  /** Has a run that has failed or was cancelled begin anew; returns whether it was there. */
  retry(tenant: string, id: string, now: number): Promise<boolean>;
  /** Has failed runs of some jobs begin anew, up to `limit`; returns how many. */
  retryFailed(jobs: readonly string[], now: number, limit: number): Promise<number>;
  find(tenant: string, id: string): Promise<RunRecord | null>;
  /** Runs with the rights of a principal in all tenants, in the order of their ids, after an id. */
  listOf(principalId: string, after: string | null, limit: number): Promise<readonly RunRecord[]>;
  /** The newest first. */
  list(query: RunQuery): Promise<readonly RunRecord[]>;
  /** The newest failed runs of all tenants. */
  listFailed(jobs: readonly string[] | null, limit: number): Promise<readonly RunRecord[]>;
  work(schedules: readonly string[], now: number): Promise<JobWork>;
  /**
   * Makes ready what is due, up to `limit`: scheduled runs, and those whose lease is over. A run
   * whose last attempt ended so has failed. Returns how many there were.
   */
  ripen(now: number, limit: number, keptUntil: number): Promise<number>;
  claim(claim: JobClaim): Promise<ClaimedRuns>;
  /** Extends leases; returns the ids of those that are still held. */
  renew(holds: readonly RunHold[], leaseUntil: number): Promise<readonly string[]>;
  /**
   * Notes the ends of attempts. What is not held any more stays as it is. Returns the ids of those
   * that were held.
   */
  settle(
    ends: readonly (RunHold & { readonly end: RunEnd })[],
    now: number,
  ): Promise<readonly string[]>;
  /** Keeps the result of a step, JSON text; returns false, and keeps nothing, if it isn't held. */
  addStep(hold: RunHold, name: string, result: string): Promise<boolean>;
  /** The results of the steps of a run, by name. */
  steps(id: string): Promise<ReadonlyMap<string, string>>;
  /** Notes how far a run is, JSON text; returns whether it is held. */
  setProgress(hold: RunHold, progress: string): Promise<boolean>;
  /** Those of the schedules that have begun. */
  schedules(ids: readonly string[]): Promise<readonly JobSchedule[]>;
  /** Begins a schedule; does nothing if another process has. */
  beginSchedule(schedule: JobSchedule): Promise<void>;
  /** Moves a schedule on; returns whether it was as `from` says, so that one process alone does. */
  moveSchedule(from: JobSchedule, nextAt: number): Promise<boolean>;
  /** Ends schedules that nobody has moved on since a time, except those with these ids. */
  endSchedules(before: number, kept: readonly string[]): Promise<void>;
  /** Stops a job from beginning, or lets it begin again. */
  pause(job: string, at: number | null): Promise<void>;
  /** The jobs that are paused. */
  paused(): Promise<readonly string[]>;
  /** Removes runs that were kept until now, up to `limit`; returns whether there may be more. */
  prune(now: number, limit: number): Promise<boolean>;
  state(now: number): Promise<JobState>;
}
