// The likeliest intended name for a misspelt one.
import { editDistance } from "../runtime/contract/edit-distance.js";
import type { Advice } from "./diagnostics.js";

/** A candidate that the name abbreviates, else the closest one within a third of the name's length, or undefined. */
export function didYouMean(name: string, given: Iterable<string>): string | undefined {
  const candidates = [...given];
  const abbreviated = candidates.filter(
    (candidate) => name.length >= 3 && candidate !== name && candidate.startsWith(name),
  );
  if (abbreviated.length === 1) return abbreviated[0];
  const limit = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates.sort()) {
    if (candidate === name || Math.abs(candidate.length - name.length) > limit) continue;
    const measured = editDistance(name.toLowerCase(), candidate.toLowerCase(), limit);
    const isNearerInLength =
      measured === bestDistance &&
      best !== undefined &&
      candidate.length === name.length &&
      best.length !== name.length;
    if (measured < bestDistance || isNearerInLength) {
      best = candidate;
      bestDistance = measured;
    }
  }
  return best;
}

/** The likeliest intended name, or if there is none a sentence on what to do. */
export function didYouMeanOr(name: string, given: Iterable<string>, hint: string): Advice {
  const suggestion = didYouMean(name, given);
  return suggestion === undefined ? { hint } : { suggestion };
}
