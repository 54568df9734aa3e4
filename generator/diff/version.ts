// The version that follows from changes (https://semver.org, of which §4 lets a 0.x version break in its minor).
import type { Change } from "../compare/change.js";

/** The version after these changes, given the one before. */
export function suggestedVersion(before: string, changes: readonly Change[]): string {
  const [, major = "0", minor = "0", patch = "0"] = /^(\d+)\.(\d+)\.(\d+)/.exec(before) ?? [];
  const has = (level: Change["level"]): boolean => changes.some((change) => change.level === level);
  // A release that is being prepared takes what comes before it, where it is one of that kind.
  const isPrepared = before.startsWith(`${major}.${minor}.${patch}-`);
  const [isMinor, isMajor] = [patch === "0", minor === "0" && patch === "0"];
  if (has("breaking") && major !== "0")
    return isPrepared && isMajor ? `${major}.0.0` : `${Number(major) + 1}.0.0`;
  if (has("breaking") || has("additive"))
    return isPrepared && isMinor ? `${major}.${minor}.0` : `${major}.${Number(minor) + 1}.0`;
  if (!has("documentation")) return before;
  return `${major}.${minor}.${isPrepared ? patch : Number(patch) + 1}`;
}
