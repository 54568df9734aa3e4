// One row of the fault matrix: a fault begins and ends below a service under load, and nobody lends a hand.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { faultsOf } from "./answers.js";
import type { Load } from "./load.js";
import type { Subject } from "./subject.js";

export interface Fault {
  begin(): unknown;
  /** Takes the fault away; undefined is one that is over at once. */
  readonly end?: () => unknown;
  /** What `/readyz` must name while the fault lasts; undefined has it say what it likes. */
  readonly missing?: readonly string[];
  /** What `/readyz` must name as degraded, at 200. */
  readonly degraded?: readonly string[];
}

/** At least this long a fault lasts, so that requests run into it and past their deadline. */
const lastsMillis = 2_500;

/**
 * Holds that, from the fault to the recovery: `/livez` answers, `/readyz` tells the truth, every request is answered within
 * its deadline by success, 503 with `Retry-After`, or 504 at the deadline, and that the service is well again by itself.
 */
export async function survive(subject: Subject, load: Load, fault: Fault): Promise<void> {
  await load.successes(10);
  load.takeOutcomes();
  await fault.begin();
  const began = performance.now();
  const seen: unknown[] = [];
  const check = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((error: unknown) => seen.push(error));
  try {
    await check(subject.expectAlive());
    if (fault.missing !== undefined) await check(subject.expectMissing(...fault.missing));
    if (fault.degraded !== undefined) await check(subject.expectDegraded(...fault.degraded));
    if (fault.end !== undefined) {
      await sleep(Math.max(0, lastsMillis - (performance.now() - began)));
      await check(subject.expectAlive());
    }
  } finally {
    await fault.end?.();
  }
  await check(load.successes(10));
  await check(subject.expectMissing());
  // All that was wrong at once: one run says what there is to do.
  expect([...faultsOf(load.takeOutcomes()), ...seen.map(String)]).toEqual([]);
}
