// The version that follows from changes (https://semver.org, of which §4 lets a 0.x version break
// in its minor).
import type { Change } from "../compare/change.js";

/**
 * The version after these changes, given the previous one and the registry's own: never an earlier
 * one.
 */
export function suggestedVersion(
  before: string,
  changes: readonly Change[],
  after = before,
): string {
  const needed = neededVersion(
    before,
    changes.filter(({ area }) => area !== "version"),
  );
  return compareVersions(after, needed) > 0 ? after : needed;
}

function neededVersion(before: string, changes: readonly Change[]): string {
  const [, major = "0", minor = "0", patch = "0"] = /^(\d+)\.(\d+)\.(\d+)/.exec(before) ?? [];
  const isBreaking = changes.some(({ level, breaks }) => level === "breaking" || breaks === true);
  // Opening asks nothing of clients: they may do more, as with additive changes.
  const isMore = changes.some(({ level }) => level === "additive" || level === "opens");
  // A prerelease of the needed kind becomes its own release: 2.0.0-rc.1 → 2.0.0.
  const isPrepared = before.startsWith(`${major}.${minor}.${patch}-`);
  const [isMinor, isMajor] = [patch === "0", minor === "0" && patch === "0"];
  if (isBreaking && major !== "0")
    return isPrepared && isMajor ? `${major}.0.0` : `${Number(major) + 1}.0.0`;
  if (isBreaking || isMore)
    return isPrepared && isMinor ? `${major}.${minor}.0` : `${major}.${Number(minor) + 1}.0`;
  if (changes.length === 0) return before;
  return `${major}.${minor}.${isPrepared ? patch : Number(patch) + 1}`;
}

/**
 * Which of two versions comes first (https://semver.org §11): negative where it is the left one.
 */
export function compareVersions(left: string, right: string): number {
  const [one, other] = [partsOf(left), partsOf(right)];
  const core = comparedParts(one.core, other.core);
  if (core !== 0) return core;
  // A prerelease comes before its release.
  if (one.prepared.length === 0 || other.prepared.length === 0)
    return other.prepared.length - one.prepared.length;
  return comparedParts(one.prepared, other.prepared);
}

function partsOf(version: string): {
  readonly core: readonly string[];
  readonly prepared: readonly string[];
} {
  const [whole = ""] = version.split("+", 1);
  const [core = "", ...rest] = whole.split("-");
  return { core: core.split("."), prepared: rest.length === 0 ? [] : rest.join("-").split(".") };
}

function comparedParts(left: readonly string[], right: readonly string[]): number {
  for (const [index, one] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (one === other) continue;
    const [isNumber, isOther] = [one, other].map((part) => /^\d+$/.test(part));
    if (isNumber === true && isOther === true) return Number(one) - Number(other);
    // Numbers come before words.
    if (isNumber !== isOther) return isNumber === true ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return left.length - right.length;
}
