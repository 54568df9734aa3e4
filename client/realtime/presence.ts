// Who is on each topic, as the line that tabs share has been told: a tab that joins it later is told the same.
import type { Heard } from "./place.js";

const snapshot = "realtime.presence";
const [joined, left] = ["realtime.joined", "realtime.left"];

interface Told {
  readonly topic?: unknown;
  readonly principal?: unknown;
  readonly principals?: unknown;
  readonly count?: unknown;
}

export class PresenceBoard {
  /** The last snapshot of each topic, with what has changed since. */
  readonly #topics = new Map<string, Told>();

  /** Takes a signal of the line; others than those of presence are passed over. */
  note([name, , data]: Heard): void {
    const told = (data ?? {}) as Told;
    const { topic, principal, count } = told;
    if (typeof topic !== "string") return;
    if (name === snapshot) this.#topics.set(topic, told);
    const before = this.#topics.get(topic);
    if (before === undefined || (name !== joined && name !== left)) return;
    const principals = Array.isArray(before.principals)
      ? before.principals.filter((one) => one !== principal)
      : [];
    if (name === joined) principals.push(principal);
    this.#topics.set(topic, { ...before, principals, count });
  }

  /** What a tab is told that hears these topics. */
  of(topics: readonly string[]): readonly Heard[] {
    return topics.flatMap((topic) => {
      const told = this.#topics.get(topic);
      return told === undefined ? [] : [[snapshot, null, told] as const];
    });
  }

  /** A line that is made anew is told anew. */
  clear(): void {
    this.#topics.clear();
  }
}
