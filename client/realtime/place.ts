// Catches a tab up on signals that other tabs received while it was away, and skips those it has
// already handled.
import { call, type Operation } from "../core.js";
import type { Dial, Receiver } from "./port.js";

/** A signal as a line tells it (`Receiver`). */
export type Heard = readonly [
  name: string,
  id: string | null,
  data: unknown,
  signalId?: string | undefined,
  traceparent?: string | undefined,
];

/** A page of the caller's mailbox, as `<path>/history` answers. */
interface History {
  readonly signals: readonly {
    readonly event: string;
    readonly id: string;
    readonly data: unknown;
    readonly traceparent?: string;
  }[];
  readonly gap: unknown;
  readonly has_more: boolean;
  /** The id behind which the page begins; an older service doesn't say. */
  readonly after?: string;
}

export interface PlaceOptions {
  readonly dial: Pick<Dial, "client" | "path" | "lastEventId" | "deviceId" | "from" | "begun">;
  readonly caller: string | null;
  /** Aborts when the line is given up. */
  readonly leaving: AbortSignal;
  signal: Receiver["signal"];
  /** What others heard cannot be had. */
  failed(): void;
}

export class Place {
  readonly #options: PlaceOptions;
  /**
   * The last signal that was heard, or behind which the device is; undefined until that is known.
   */
  #last: string | undefined;
  /** Whether its relation to the other tabs' position is known. */
  #isPlaced = false;
  /** What this tab heard up to there is sent again, for a leader that has not. */
  #skipTo: string | undefined;
  /** Runs while signals are read that others have heard. */
  #catchingUp: Promise<void> | undefined;
  #beginning: Promise<string> | undefined;
  /** Signals behind those. */
  readonly #held: Heard[] = [];

  constructor(options: PlaceOptions) {
    this.#options = options;
    this.#last = options.dial.lastEventId ?? undefined;
  }

  /** The signal to continue after, once the others' are read; null is the device's cursor. */
  async reached(): Promise<string | null> {
    await this.#catchingUp;
    const last = await this.#begin();
    return last === "" ? null : last;
  }

  /** A line has been made, behind what `reached` said. */
  opened(): void {
    this.#isPlaced = true;
  }

  /** Another tab has made a line, and has heard this signal as its last. */
  follow(last: string): void {
    this.#isPlaced = true;
    if (this.#last !== last) this.#catchingUp ??= this.#catchUp(last);
  }

  /** A signal that another tab has told of. */
  hear(signal: Heard): void {
    const [, id] = signal;
    // Its order relative to the missed signals isn't known yet; a durable one is read then.
    if (!this.#isPlaced && id !== null) return;
    if (this.#catchingUp === undefined) this.take(signal);
    else this.#held.push(signal);
  }

  /** The next signal of this tab. */
  take(signal: Heard): void {
    const [, id] = signal;
    if (id !== null && this.#skipTo !== undefined) {
      if (id === this.#skipTo) this.#skipTo = undefined;
      return;
    }
    if (id !== null) this.#last = id;
    this.#options.signal(...signal);
  }

  /**
   * Reads what others heard while this tab was on no line; signals that come meanwhile are behind
   * that.
   */
  async #catchUp(last: string): Promise<void> {
    try {
      let isBehind = false;
      await this.#begin();
      for (let hasMore = true; hasMore;) {
        const { signals, gap, has_more } = await this.#history(this.#last);
        if (this.#options.leaving.aborted) return;
        isBehind ||= gap !== null || signals.length > 0;
        if (gap !== null) this.take(["realtime.gap", null, gap]);
        // Signals that are gone aren't asked for again.
        if (gap !== null && signals.length === 0) this.#last = last;
        for (const { event, id, data, traceparent } of signals)
          this.take([event, id, data, undefined, traceparent]);
        hasMore = has_more;
      }
      if (!isBehind && last !== "" && (await this.#isAheadOf(last))) this.#skipTo = this.#last;
      for (const signal of this.#held.splice(0)) this.take(signal);
      this.#catchingUp = undefined;
    } catch {
      // The next line tries again.
      if (this.#options.leaving.aborted) return;
      this.#options.failed();
    }
  }

  /** Whether this tab has heard more than the one that leads, whose last signal is that. */
  async #isAheadOf(last: string): Promise<boolean> {
    for (let from: string | undefined = last; from !== undefined;) {
      const { signals, has_more }: History = await this.#history(from);
      if (signals.some(({ id }) => id === this.#last)) return true;
      from = has_more ? signals.at(-1)?.id : undefined;
    }
    return false;
  }

  /**
   * Where this tab begins that has heard nothing yet: it is asked once, before others hear more.
   */
  async #begin(): Promise<string> {
    if (this.#last !== undefined) return this.#last;
    this.#beginning ??= this.#history(undefined).then(({ after = "" }) => after);
    try {
      const begun = await this.#beginning;
      this.#options.dial.begun(begun);
      return (this.#last ??= begun);
    } finally {
      this.#beginning = undefined;
    }
  }

  async #history(place: string | undefined): Promise<History> {
    const { dial, caller, leaving } = this.#options;
    const { client, path, deviceId, from } = dial;
    const history: Operation = {
      method: "GET",
      path: `${path}/history`,
      query: ["after", "device_id", "from", "limit"],
      repeats: "safe",
    };
    const page = await call<History, string>(
      client,
      history,
      place === undefined ? { device_id: deviceId, from, limit: 1 } : { after: place || undefined },
      // If somebody else has signed in, the mailbox is theirs.
      { signal: leaving, caller },
    ).settled();
    if (page.ok) return page.data;
    if (page.error.code !== "core.validation" || place === "") throw page.error;
    // The service has another mailbox by now, in which there is no such place: all of it is new. An
    // older one knows no place.
    return this.#history("");
  }
}
