// Changes as a report: what is approved, what is not, and which version follows.
import { own } from "../model/records.js";
import { levels, type Change } from "../compare/change.js";
import { suggestedVersion } from "./version.js";

export interface JudgedChange extends Change {
  /** The reason that the registry gives for a breaking change; null where it gives none. */
  readonly approved: string | null;
}

export interface DiffReport {
  /** What the registry was compared with. */
  readonly against: string;
  readonly changes: readonly JudgedChange[];
  readonly version: {
    readonly before: string;
    readonly after: string;
    readonly suggested: string;
  };
  /** Approvals of changes that are not there. */
  readonly unused: readonly string[];
  /** Whether a breaking change has no approval. */
  readonly isRefused: boolean;
}

/**
 * Judges changes by the approvals of the registry: reasons by the texts of changes. One that the other registry has as well
 * was for a change before it, and counts for none behind it.
 */
export function reportOf(
  changes: readonly Change[],
  given: {
    readonly against: string;
    readonly before: string;
    readonly after: string;
    readonly approved: Readonly<Record<string, string>>;
    readonly spent: Readonly<Record<string, string>>;
  },
): DiffReport {
  const { against, before, after, approved, spent } = given;
  const reasonFor = (text: string): string | null => {
    const [reason, earlier] = [own(approved, text), own(spent, text)];
    return reason === undefined || reason === earlier ? null : reason;
  };
  const judged = changes.map((change) => ({
    ...change,
    approved: change.level === "breaking" ? reasonFor(change.text) : null,
  }));
  return {
    against,
    changes: judged,
    version: { before, after, suggested: suggestedVersion(before, changes, after) },
    unused: Object.keys(approved).filter(
      (text) => !judged.some((change) => change.approved !== null && change.text === text),
    ),
    isRefused: judged.some(isRefused),
  };
}

export function isRefused({ level, approved }: JudgedChange): boolean {
  return level === "breaking" && approved === null;
}

/** `2 breaking (1 approved), 3 additive`, or `no changes`. */
export function summaryOf({ changes }: DiffReport): string {
  const parts = levels.flatMap((level) => {
    const all = changes.filter((change) => change.level === level);
    const approved = all.filter((change) => change.approved !== null).length;
    const told = approved === 0 ? "" : ` (${approved} approved)`;
    return all.length === 0 ? [] : [`${all.length} ${level}${told}`];
  });
  return parts.length === 0 ? "no changes" : parts.join(", ");
}
