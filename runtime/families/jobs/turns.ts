// Whose runs begin next: tenants take turns, and those with fewer runs come first.
import type { JobLane, LaneTurns } from "../../ports/jobs.js";

/** A run that begins or has ended. */
interface Turn {
  readonly tenant: string;
  readonly job: string;
}

/** Tenants whose last job is remembered. */
const mostRemembered = 10_000;

/** The room of one process, and who uses it. */
export class JobTurns {
  readonly #slots: number;
  readonly #running = new Map<string, number>();
  #busy = 0;
  /** The tenant whose turn was last. */
  #last = "";
  /** The job of each tenant whose turn was last. */
  readonly #lastJobs = new Map<string, string>();

  /** `slots` is how many runs may be under way at once. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  get room(): number {
    return this.#slots - this.#busy;
  }

  begin({ tenant, job }: Turn): void {
    this.#busy += 1;
    this.#running.set(tenant, this.#of(tenant) + 1);
    // Whoever is forgotten begins with the first of its jobs again.
    if (this.#lastJobs.size >= mostRemembered) this.#lastJobs.clear();
    this.#lastJobs.set(tenant, job);
  }

  end({ tenant }: Turn): void {
    this.#busy -= 1;
    const left = this.#of(tenant) - 1;
    if (left > 0) this.#running.set(tenant, left);
    else this.#running.delete(tenant);
  }

  /** Shares the room among the lanes; within a tenant, lower ranks come first. */
  choose(lanes: readonly JobLane[]): readonly LaneTurns[] {
    const waiting = tenantsOf(lanes);
    const counts = new Map<JobLane, number>();
    const given = new Map(this.#running);
    for (let left = this.room; left > 0; left -= 1) {
      const tenant = this.#next(waiting, given);
      if (tenant === undefined) break;
      const lane = bestLane(waiting.get(tenant) ?? [], counts, this.#lastJobs.get(tenant) ?? "");
      if (lane === undefined) {
        waiting.delete(tenant);
        left += 1;
        continue;
      }
      if (lane.room !== null) lane.room.left -= 1;
      counts.set(lane, (counts.get(lane) ?? 0) + 1);
      given.set(tenant, (given.get(tenant) ?? 0) + 1);
      this.#last = tenant;
    }
    return [...counts].map(([lane, count]) => ({
      job: lane.job,
      tenant: lane.tenant,
      count,
      highestRank: nextRank(lane, lanes),
    }));
  }

  /** The tenant with the fewest runs; of several, the next one behind the last. */
  #next(waiting: ReadonlyMap<string, unknown>, given: ReadonlyMap<string, number>) {
    let best: string | undefined;
    const rank = (tenant: string): readonly [number, number, string] => [
      given.get(tenant) ?? 0,
      tenant > this.#last ? 0 : 1,
      tenant,
    ];
    for (const tenant of waiting.keys())
      if (best === undefined || isBefore(rank(tenant), rank(best))) best = tenant;
    return best;
  }

  #of(tenant: string): number {
    return this.#running.get(tenant) ?? 0;
  }
}

function isBefore(
  left: readonly [number, number, string],
  right: readonly [number, number, string],
): boolean {
  if (left[0] !== right[0]) return left[0] < right[0];
  return left[1] === right[1] ? left[2] < right[2] : left[1] < right[1];
}

function tenantsOf(lanes: readonly JobLane[]): Map<string, JobLane[]> {
  const waiting = new Map<string, JobLane[]>();
  for (const lane of lanes) waiting.set(lane.tenant, [...(waiting.get(lane.tenant) ?? []), lane]);
  return waiting;
}

/**
 * The lane with the lowest rank that has room; of several, the one with the fewest turns, and then
 * the next one behind the last job.
 */
function bestLane(
  lanes: readonly JobLane[],
  counts: ReadonlyMap<JobLane, number>,
  last: string,
): JobLane | undefined {
  const [best] = lanes
    .filter(({ room }) => room === null || room.left > 0)
    .toSorted(
      (one, other) =>
        one.rank - other.rank ||
        (counts.get(one) ?? 0) - (counts.get(other) ?? 0) ||
        Number(one.job <= last) - Number(other.job <= last) ||
        (one.job < other.job ? -1 : 1),
    );
  return best;
}

/** The rank of the tenant's next lane, whose runs come before those of higher ones in this lane. */
function nextRank({ tenant, rank }: JobLane, lanes: readonly JobLane[]): number | null {
  let next: number | null = null;
  for (const other of lanes) {
    if (other.tenant !== tenant || other.rank <= rank || !Number.isFinite(other.rank)) continue;
    next = next === null ? other.rank : Math.min(next, other.rank);
  }
  return next;
}
