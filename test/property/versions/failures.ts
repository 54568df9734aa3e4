// What goes wrong between two versions, and whether the verdict of `diff` has said so.
import { verdicts, type Verdict } from "../../../generator/compare/rollout.js";
import type { Rollout } from "../../../generator/diff/rollout.js";

/** What is off the contract of a version, or lost. */
export interface Failure {
  readonly kind: FailureKind;
  /** Names of what it is about, any of which the verdict may say. */
  readonly about: readonly string[];
  readonly text: string;
}

/**
 * The kinds, with the least that `diff` has to say where they happen. A kind that versions never fail in any more is to be
 * `null`: nothing that `diff` says makes up for it.
 */
export const leastVerdicts = {
  /** An answer is not what the version's own document says. */
  answer: "clients meet both versions",
  /** A sound request is refused. */
  refused: "clients meet both versions",
  /** An answer 5xx. */
  broken: "needs two releases",
  /** A signal is not what the version's AsyncAPI document says. */
  signal: "clients meet both versions",
  /** A delivery carries what the version that sent it has no such type for. */
  delivery: "clients meet both versions",
  /** An Idempotency-Key repeats what is off the contract, or writes twice. */
  replay: "clients meet both versions",
  /** 304 although the answer would be another one. */
  condition: null,
  /** What was acknowledged has another value. */
  changed: "clients meet both versions",
  /** What was acknowledged is not there. */
  lost: "clients meet both versions",
  /** A version does not start over what is stored. */
  start: "needs the migration first",
} as const satisfies Readonly<Record<string, Verdict | null>>;

export type FailureKind = keyof typeof leastVerdicts;

/** Failures of which the verdict says nothing. */
export function unsaid(
  failures: readonly Failure[],
  { verdict, steps }: Rollout,
): readonly Failure[] {
  return failures.filter(({ kind, about }) => {
    const least = leastVerdicts[kind];
    if (least === null || verdicts.indexOf(verdict) < verdicts.indexOf(least)) return true;
    return !steps.some((step) => about.some((name) => isNamed(step, name)));
  });
}

/** Whether a text has a name as a word of its own. */
function isNamed(text: string, name: string): boolean {
  return text.split(/[^\w.-]+/).some((word) => {
    const bare = word.replace(/\.+$/, "");
    return bare === name || bare.startsWith(`${name}.`);
  });
}
