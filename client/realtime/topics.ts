// The topics of a connection: what is wanted, and what its line hears. An open line is changed rather than made anew.
import type { Line } from "./port.js";

export class Topics {
  #wanted: readonly string[];
  /** What the line hears, or was asked to hear. */
  #heard: readonly string[] = [];
  #changing: Promise<unknown> = Promise.resolve();

  constructor(wanted: readonly string[]) {
    this.#wanted = [...wanted];
  }

  /** What a line that is made now asks for. */
  forLine(): readonly string[] {
    this.#heard = this.#wanted;
    return this.#wanted;
  }

  want(topics: readonly string[]): void {
    // The application may go on with its own list.
    this.#wanted = [...topics];
  }

  /** Has an open line hear what is wanted by now, after earlier changes; resolves with false where it cannot. */
  change(line: Line, isCurrent: () => boolean): Promise<boolean> {
    const change = async (): Promise<boolean> => {
      const [wanted, before] = [this.#wanted, this.#heard];
      if (!isCurrent() || wanted === before) return true;
      this.#heard = wanted;
      try {
        await line.setTopics?.(wanted, before);
        return line.setTopics !== undefined;
      } catch {
        return false;
      }
    };
    const done = this.#changing.then(change);
    this.#changing = done;
    return done;
  }

  /** `realtime.unsubscribed`: the caller may not hear these any more, and another line does not ask for them. */
  lost(data: unknown): void {
    const isChanging = this.#wanted !== this.#heard;
    this.#heard = withoutEnded(this.#heard, data);
    this.#wanted = isChanging ? withoutEnded(this.#wanted, data) : this.#heard;
  }
}

/** What is left of topics once those that `realtime.unsubscribed` names have ended. */
export function withoutEnded(topics: readonly string[], data: unknown): readonly string[] {
  const { topics: ended } = data as { readonly topics: readonly string[] };
  return topics.filter((topic) => !ended.includes(topic));
}
