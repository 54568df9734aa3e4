// A report of changes: approved and unapproved ones, and the version that follows.
import { isDeepStrictEqual } from "node:util";
import { own } from "../model/records.js";
import { levels, needsApproval, type Change, type ChangeLevel } from "../compare/change.js";
import type { Cause } from "./causes.js";
import type { Rollout } from "./rollout.js";
import { suggestedVersion } from "./version.js";

/** The approval of a cause: its reason, and the places that it covers. */
export type Approval = string | { readonly reason: string; readonly in: readonly string[] };
type Approvals = Readonly<Record<string, Approval>>;

export interface JudgedCause extends Omit<Cause, "changes"> {
  /** The texts of its changes. */
  readonly follows: readonly string[];
  /**
   * The registry's reason for a cause that needs one; null if there is none, or if it doesn't cover
   * all places.
   */
  readonly approved: string | null;
  /** Places that its approval does not name. */
  readonly uncovered: readonly string[];
}

export interface JudgedChange extends Omit<Change, "at" | "field"> {
  /** The text of its cause. */
  readonly cause: string;
  readonly approved: string | null;
}

export interface LostMigration {
  /** Relative to the project. */
  readonly file: string;
  readonly text: string;
}

export interface DiffReport {
  /** The revision or folder that the registry was compared with. */
  readonly against: string;
  readonly causes: readonly JudgedCause[];
  readonly changes: readonly JudgedChange[];
  readonly version: {
    readonly before: string;
    readonly after: string;
    readonly suggested: string;
  };
  /** The rollout's requirements; null if the base says nothing of its storage. */
  readonly rollout: Rollout | null;
  /** Migrations that the base's databases have applied and this one lacks, with the file. */
  readonly lost: readonly LostMigration[];
  /** Approvals of causes that are not there. */
  readonly unused: readonly string[];
  /** Whether a change that opens or breaks has no approval, or migrations are lost. */
  readonly isRefused: boolean;
}

/**
 * Judges causes by the approvals of the registry. An approval that the other registry also has was
 * used there and no longer counts. One that names no places only covers a cause that clients meet
 * in one place.
 */
export function reportOf(
  changes: readonly Change[],
  causes: readonly Cause[],
  given: {
    readonly against: string;
    readonly before: string;
    readonly after: string;
    readonly approved: Approvals;
    readonly spent: Approvals;
    readonly rollout: Rollout | null;
    readonly lost: readonly LostMigration[];
  },
): DiffReport {
  const { against, before, after, approved, spent, rollout, lost } = given;
  const judged = causes.map((cause) => judgedBy(cause, approved, spent));
  const judgedOf = new Map(
    causes.flatMap((cause, at) => cause.changes.map((change) => [change, judged[at]] as const)),
  );
  return {
    against,
    causes: judged,
    changes: changes.map((change) => {
      const { at: _at, field: _field, ...told } = change;
      const { text = change.text, approved: reason = null } = judgedOf.get(change) ?? {};
      return { ...told, cause: text, approved: needsApproval(change.level) ? reason : null };
    }),
    version: { before, after, suggested: suggestedVersion(before, changes, after) },
    rollout,
    lost,
    unused: Object.keys(approved).filter(
      (text) =>
        !judged.some(
          (cause) => cause.text === text && (cause.approved !== null || cause.uncovered.length > 0),
        ),
    ),
    isRefused: lost.length > 0 || judged.some(isRefused),
  };
}

function judgedBy(
  { changes, ...cause }: Cause,
  approved: Approvals,
  spent: Approvals,
): JudgedCause {
  const told = { ...cause, follows: changes.map(({ text }) => text) };
  const entry = own(approved, cause.text);
  const isSpent = isDeepStrictEqual(entry, own(spent, cause.text));
  if (!needsApproval(cause.level) || entry === undefined || isSpent)
    return { ...told, approved: null, uncovered: [] };
  const { affects } = cause;
  const { reason, in: places } =
    typeof entry === "string" ? { reason: entry, in: affects.length > 1 ? [] : affects } : entry;
  const uncovered = affects.filter((place) => !places.includes(place));
  return { ...told, approved: uncovered.length === 0 ? reason : null, uncovered };
}

/** Entries that would approve the unapproved causes, in the registry's format. */
export function missingApprovals({ causes }: DiffReport): Approvals {
  return Object.fromEntries(
    causes
      .filter(isRefused)
      .map(({ text, affects }): [string, Approval] => [
        text,
        affects.length > 1 ? { reason: "why", in: affects } : "why",
      ]),
  );
}

export function isRefused({ level, approved }: Pick<JudgedCause, "level" | "approved">): boolean {
  return needsApproval(level) && approved === null;
}

/** `1 opens access, 2 breaking (1 approved), 3 additive`, or `no changes`. */
export function diffSummary({ causes }: DiffReport): string {
  const parts = levels.flatMap((level) => {
    const all = causes.filter((cause) => cause.level === level);
    const approved = all.filter((cause) => cause.approved !== null).length;
    const told = approved === 0 ? "" : ` (${approved} approved)`;
    return all.length === 0 ? [] : [`${all.length} ${levelInWords(level, all.length)}${told}`];
  });
  return parts.length === 0 ? "no changes" : parts.join(", ");
}

function levelInWords(level: ChangeLevel, count: number): string {
  if (level !== "opens") return level;
  return count === 1 ? "opens access" : "open access";
}
