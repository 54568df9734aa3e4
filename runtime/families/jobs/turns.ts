// Whose runs begin next: tenants take turns, and those of whom less runs come first.
import type { JobLane, LaneTurns } from "../../ports/jobs.js";

/** The room of one process, and who uses it. */
export class JobTurns {
  readonly #slots: number;
  readonly #running = new Map<string, number>();
  #busy = 0;
  /** The tenant whose turn was last. */
  #last = "";

  /** `slots` is how many runs may be under way at once. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  get room(): number {
    return this.#slots - this.#busy;
  }

  begin(tenant: string): void {
    this.#busy += 1;
    this.#running.set(tenant, this.#of(tenant) + 1);
  }

  end(tenant: string): void {
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
      const lane = bestLane(waiting.get(tenant) ?? [], counts);
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
    return [...counts].map(([{ job, tenant }, count]) => ({ job, tenant, count }));
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

/** The lane with the lowest rank that has room; of several, the one with the fewest turns. */
function bestLane(
  lanes: readonly JobLane[],
  counts: ReadonlyMap<JobLane, number>,
): JobLane | undefined {
  let best: JobLane | undefined;
  for (const lane of lanes) {
    if (lane.room !== null && lane.room.left <= 0) continue;
    const isBetter =
      best === undefined ||
      lane.rank < best.rank ||
      (lane.rank === best.rank && (counts.get(lane) ?? 0) < (counts.get(best) ?? 0));
    if (isBetter) best = lane;
  }
  return best;
}
