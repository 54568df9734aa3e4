// The likeliest intended name for a misspelt one, and whether no other can be meant.
import { editDistance } from "../../runtime/contract/edit-distance.js";
import type { Advice, NearestName } from "./diagnostics.js";

/** What is a slip of the hand: at most so many letters. */
const slip = 2;

/**
 * A candidate that the name abbreviates, else the closest one within a third of the name's length,
 * or undefined.
 */
export function didYouMean(wrote: string, given: Iterable<string>): NearestName | undefined {
  const candidates = [...given];
  const name = likeliest(wrote, candidates);
  return name === undefined ? undefined : { wrote, name, isOnly: isOnly(wrote, name, candidates) };
}

function likeliest(name: string, candidates: readonly string[]): string | undefined {
  const alike = candidates.filter((candidate) => plain(candidate) === plain(name));
  if (alike.length === 1 && alike[0] !== name) return alike[0];
  const abbreviated = candidates.filter(
    (candidate) => name.length >= 3 && candidate !== name && candidate.startsWith(name),
  );
  if (abbreviated.length === 1) return abbreviated[0];
  const limit = farthest(name);
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates.toSorted()) {
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

/**
 * Whether only this name can be meant: it is written alike but for case and `_`, or it is a slip
 * away and no other is near. Names that differ by their digits are different names.
 */
function isOnly(wrote: string, name: string, candidates: readonly string[]): boolean {
  if (plain(wrote) === plain(name))
    return candidates.filter((candidate) => plain(candidate) === plain(wrote)).length === 1;
  if (digits(wrote) !== digits(name) || isOtherWord(wrote, name)) return false;
  const distance = distanceOf(wrote, name);
  if (distance > slip) return false;
  const near = Math.max(distance, Math.min(farthest(wrote), slip));
  return candidates.every(
    (other) => other === name || other === wrote || distanceOf(wrote, other) > near,
  );
}

/**
 * Whether a part of a few letters has another letter: `cn` is no slip for `en`, nor `got` for
 * `get`; `lgo` is one for `log`.
 */
function isOtherWord(wrote: string, name: string): boolean {
  const [left, right] = [wrote.toLowerCase().split("."), name.toLowerCase().split(".")];
  const sorted = (part: string): string => [...part].toSorted().join("");
  return left.some((part, at) => {
    const other = right[at] ?? "";
    if (part === other || part.length > 3) return false;
    return part.length < 3 || (part.length >= other.length && sorted(part) !== sorted(other));
  });
}

/** How many letters a name may differ from what is meant. */
function farthest(name: string): number {
  return Math.max(1, Math.floor(name.length / 3));
}

function distanceOf(left: string, right: string): number {
  return editDistance(left.toLowerCase(), right.toLowerCase(), slip + 1);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]/g, "");
}

function digits(name: string): string {
  return name.replaceAll(/\D/g, "");
}

/**
 * The name that a word is known to mean, if it is one, and the likeliest one otherwise. It may be a
 * slip all the same.
 */
export function meantOrNearest(
  known: string | undefined,
  wrote: string,
  candidates: Iterable<string>,
): string | NearestName | undefined {
  const nearest = didYouMean(wrote, candidates);
  return known === undefined || known === nearest?.name ? nearest : known;
}

/** The likeliest intended name, or if there is none a sentence on what to do. */
export function didYouMeanOr(name: string, given: Iterable<string>, hint: string): Advice {
  const suggestion = didYouMean(name, given);
  return suggestion === undefined ? { hint } : { suggestion };
}
