// Whether the service can take requests now, and what it misses (decisions.md §4 "Readiness").
import { setTimeout as sleep } from "node:timers/promises";

export interface Readiness {
  /** What requests need and is not there: no traffic, please. */
  readonly missing: readonly string[];
  /** What is not there, and is done without. */
  readonly degraded: readonly string[];
}

/** Something that may be away. Rejects, or does not answer in time, where it is. */
export type Probe = () => Promise<void>;

export interface Probes {
  readonly needed: Readonly<Record<string, Probe>>;
  readonly helpful: Readonly<Record<string, Probe>>;
}

const patienceMillis = 2_500;
/** An answer counts for so many milliseconds: whoever asks more often costs no engine anything. */
const rememberedMillis = 1_000;

/** Asks everything at once, once for all who ask at the same time. */
export function readinessOf({ needed, helpful }: Probes): () => Promise<Readiness> {
  let last: { readonly at: number; readonly answer: Promise<Readiness> } | undefined;
  const ask = async (): Promise<Readiness> => {
    const [missing, degraded] = await Promise.all([absent(needed), absent(helpful)]);
    return { missing, degraded };
  };
  return () => {
    if (last === undefined || performance.now() - last.at > rememberedMillis)
      last = { at: performance.now(), answer: ask() };
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
    // Where it is given up, its later end interests nobody.
    asked.catch(() => undefined);
    return await Promise.race([asked, sleep(patienceMillis, false, { signal: patience.signal })]);
  } catch {
    return false;
  } finally {
    patience.abort();
  }
}
