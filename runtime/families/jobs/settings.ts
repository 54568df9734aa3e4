// The settings of jobs: how many a process runs at once, and when failed ones are tried again.
import type { SettingsSource } from "../../operations/family.js";
import type { JobsSpec } from "./spec.js";

export interface JobSettings {
  /** How many runs may be under way at once in this process; it begins none if 0. */
  readonly slots: number;
  /** How long the runs of a process that died wait before others have them. */
  readonly leaseMillis: number;
  /** The first wait is random up to this, at least half of it, and doubles. */
  readonly backoffMillis: number;
}

export function readJobSettings(
  _spec: JobsSpec | undefined,
  { environment }: SettingsSource,
): JobSettings {
  return {
    slots: environment.integer("JOBS_AT_ONCE", 10, 0, 1_000),
    leaseMillis: environment.number("JOBS_LEASE_SECONDS", 30, 4, 3_600) * 1_000,
    backoffMillis: environment.number("JOBS_BACKOFF_SECONDS", 5, 0.01, 3_600) * 1_000,
  };
}
