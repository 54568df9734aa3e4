// What drills of lost machines share: a service that is written to, and what of it has come back.
import { setTimeout as sleep } from "node:timers/promises";

/** Numbers from 0 to below 1, the same for a seed (Mulberry32). */
export function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What was acknowledged, by the path that reads it. */
export type Acknowledged = ReadonlyMap<string, string>;

/** Calls `write` until it is told to stop, also where the service is gone. */
export async function writeOn(
  write: (at: number) => Promise<void>,
  until: AbortSignal,
): Promise<void> {
  for (let at = 0; !until.aborted; at += 1) await write(at).catch(() => sleep(1));
}

/** What of it a service doesn't have. */
export async function missingOf(url: string, expected: Acknowledged): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [path, text] of expected) {
    const answer = await fetch(`${url}${path}`);
    const body = await answer.text();
    const found = path.startsWith("/notes/") && answer.ok ? JSON.parse(body).text : body;
    if (answer.status !== 200 || found !== text) missing.push(path);
  }
  return missing;
}
