// The topics of a connection, wanted and subscribed. An open line is changed, not replaced.
import { ApiError } from "../core.js";
import type { Line } from "./port.js";

/** Whoever has set topics, until they are heard, or will not be. */
interface Waiting {
  readonly serial: number;
  readonly topics: readonly string[];
  readonly resolve: () => void;
  readonly reject: (error: ApiError) => void;
}

export class Topics {
  #wanted: readonly string[];
  /** Counts settings of topics; `#heardSerial` is the one that the line has, or was asked for. */
  #serial = 0;
  #heardSerial = 0;
  /** Topics that the line has, or was asked for. */
  #heard: readonly string[] = [];
  #changing: Promise<unknown> = Promise.resolve();
  readonly #waiting: Waiting[] = [];

  constructor(wanted: readonly string[]) {
    this.#wanted = [...wanted];
  }

  /** Whether the line has the wanted topics, or was asked for them. */
  get isHeard(): boolean {
    return this.#heardSerial === this.#serial;
  }

  /** The topics that a new line asks for. */
  forLine(): readonly string[] {
    [this.#heard, this.#heardSerial] = [this.#wanted, this.#serial];
    return this.#wanted;
  }

  /**
   * These are wanted from now on, and no others. Resolves once they are heard. Rejects with why
   * they are not: `client.aborted` where others were set before.
   */
  want(topics: readonly string[]): Promise<void> {
    // The application may go on with its own list.
    const wanted = [...topics];
    this.#wanted = wanted;
    const serial = (this.#serial += 1);
    const heard = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ serial, topics: wanted, resolve, reject });
    });
    // Nobody has to wait for it: `onStatus` tells as well.
    heard.catch(() => undefined);
    return heard;
  }

  /** Changes an open line to the wanted topics, after earlier changes. Rejects with `ApiError`. */
  change(line: Line, isCurrent: () => boolean): Promise<void> {
    const change = async (): Promise<void> => {
      if (!isCurrent() || this.isHeard) return;
      const [wanted, before] = [this.#wanted, this.#heard];
      this.forLine();
      const serial = this.#serial;
      if (!isSame(wanted, before)) {
        if (line.setTopics === undefined)
          throw new ApiError("client.network", "the connection can't change what it hears");
        await line.setTopics(wanted, before);
      }
      if (isCurrent()) this.#settle(serial);
    };
    const done = this.#changing.then(change);
    this.#changing = done.catch(() => undefined);
    return done;
  }

  /** A line is open, with the topics it was asked for. */
  opened(): void {
    this.#settle(this.#heardSerial);
  }

  /**
   * `realtime.unsubscribed`: the caller may not hear these any more, and another line does not ask
   * for them.
   */
  lost(data: unknown): void {
    const { code } = data as { readonly code: string };
    this.#heard = withoutEnded(this.#heard, data);
    this.#wanted = this.isHeard ? this.#heard : withoutEnded(this.#wanted, data);
    for (const one of this.#waiting.splice(0))
      if (withoutEnded(one.topics, data).length === one.topics.length) this.#waiting.push(one);
      else one.reject(new ApiError(code, "the caller may not hear these topics any more"));
  }

  /** Nothing is heard any more. */
  close(error: ApiError): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  /** The line has the topics as they were set by then, in place of earlier ones. */
  #settle(serial: number): void {
    const settled = this.#waiting.filter((one) => one.serial <= serial);
    this.#waiting.splice(0, settled.length);
    for (const { topics, resolve, reject } of settled)
      if (topics.every((topic) => this.#heard.includes(topic))) resolve();
      else reject(new ApiError("client.aborted", "other topics were set in place of these"));
  }
}

/** Whether these are the same topics, in whichever order. */
export function isSame(topics: readonly string[], others: readonly string[]): boolean {
  const [one, other] = [new Set(topics), new Set(others)];
  return one.size === other.size && topics.every((topic) => other.has(topic));
}

/** Topics without those that `realtime.unsubscribed` names. */
export function withoutEnded(topics: readonly string[], data: unknown): readonly string[] {
  const { topics: ended } = data as { readonly topics: readonly string[] };
  return topics.filter((topic) => !ended.includes(topic));
}
