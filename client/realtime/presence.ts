// The presence of each topic on the shared line, also for tabs that join it later.
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
  /** The last snapshot of each topic, with later changes. */
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

  /** The messages for a tab with these topics. */
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
