// Whether the service can take requests now, and what is missing (decisions.md §4 "Readiness").
import type { Probe, Probes } from "../operations/family.js";
import { monotonicMillis, sleep } from "../ports/ambient.js";

export interface Readiness {
  /** What requests need but is unavailable: the service should get no traffic. */
  readonly missing: readonly string[];
  /** What is unavailable, but can be done without. */
  readonly degraded: readonly string[];
}

/** How long a probe may take, in milliseconds. */
const patienceMillis = 2_500;
/**
 * A check is reused for so many milliseconds from its start, so that frequent callers cost the
 * engines nothing.
 */
const rememberedMillis = 1_000;

/** Runs all probes at the same time. Calls that come within a second share one check. */
export function readinessOf({ needed, helpful }: Probes): () => Promise<Readiness> {
  let last: { readonly at: number; readonly answer: Promise<Readiness> } | undefined;
  const ask = async (): Promise<Readiness> => {
    const [missing, degraded] = await Promise.all([absent(needed), absent(helpful)]);
    return { missing, degraded };
  };
  return () => {
    if (last === undefined || monotonicMillis() - last.at > rememberedMillis)
      last = { at: monotonicMillis(), answer: ask() };
    return last.answer;
  };
}

async function absent(probes: Readonly<Record<string, Probe>>): Promise<readonly string[]> {
  const names = Object.keys(probes);
  const there = await Promise.all(Object.values(probes).map(isThere));
  return names.filter((_name, at) => there[at] === false);
}

async function isThere(probe: Probe): Promise<boolean> {
  const patience = new AbortController();
  try {
    const asked = probe().then(() => true);
    // After the time limit nobody waits for the probe, so its rejection has to be handled here.
    asked.catch(() => undefined);
    return await Promise.race([asked, sleep(patienceMillis, false, { signal: patience.signal })]);
  } catch {
    return false;
  } finally {
    patience.abort();
  }
}
