// The version that follows from changes (https://semver.org, of which §4 lets a 0.x version break in its minor).
import type { Change } from "./change.js";

/** The version after these changes, given the one before. */
export function suggestedVersion(before: string, changes: readonly Change[]): string {
  const [, major = "0", minor = "0", patch = "0"] = /^(\d+)\.(\d+)\.(\d+)/.exec(before) ?? [];
  // A release that is being prepared takes whatever comes before it.
  if (before.startsWith(`${major}.${minor}.${patch}-`) && changes.length > 0)
    return `${major}.${minor}.${patch}`;
  const has = (level: Change["level"]): boolean => changes.some((change) => change.level === level);
  if (has("breaking") && major !== "0") return `${Number(major) + 1}.0.0`;
  if (has("breaking") || has("additive")) return `${major}.${Number(minor) + 1}.0`;
  return has("documentation") ? `${major}.${minor}.${Number(patch) + 1}` : before;
}
