// The topics of a tab that shares its line: on the shared line if it has room, else on its own.
import { ApiError } from "../core.js";
import { HoldBack } from "./hold-back.js";
import type { Leader } from "./leader.js";
import { OwnLine } from "./own-line.js";
import type { Heard } from "./place.js";
import { tooManyTopics, type Ending, type Line, type Receiver } from "./port.js";
import { withoutEnded } from "./topics.js";

/**
 * How long a tab waits before it asks for room: others that switch all the time are not to be held
 * up by that.
 */
const returnMillis = 300;

export interface TabTopicsOptions {
  readonly topics: readonly string[];
  /** Aborts when the tab leaves its line. */
  readonly leaving: AbortSignal;
  /** Undefined where another tab leads. */
  leader(): Leader | undefined;
  /** Asks whoever leads to hear these topics for this tab, and no others. */
  join(topics: readonly string[]): void;
  /** Opens a line of the tab's own; null if that cannot be for now. */
  openOwn(topics: readonly string[], receiver: Receiver): Promise<Line | null>;
  signal: Receiver["signal"];
  /** All that the tab wants to hear is heard. */
  opened(): void;
  /** The line of its own has ended, or was refused. */
  ended(ending: Ending): void;
}

/** Waits for the shared line to hear other topics. */
interface Changing {
  readonly resolve: () => void;
  readonly reject: (error: ApiError) => void;
}

export class TabTopics {
  readonly #options: TabTopicsOptions;
  #wanted: readonly string[];
  /** Topics that the shared line was last asked for, and those it has for this tab. */
  #asked: readonly string[];
  #granted: readonly string[] = [];
  /** Whether the shared line has them, as far as this tab knows. */
  #isHeard = false;
  #isOpen = false;
  #changing: Changing | undefined;
  #own: OwnLine | undefined;
  #returning: ReturnType<typeof setTimeout> | undefined;
  /** Signals of the shared line. */
  readonly #shared: HoldBack;

  constructor(options: TabTopicsOptions) {
    this.#options = options;
    this.#shared = new HoldBack((signal) => options.signal(...signal));
    [this.#wanted, this.#asked] = [options.topics, options.topics];
  }

  /** Topics that the shared line is asked for. */
  get asked(): readonly string[] {
    return this.#asked;
  }

  /** A line of the tab's own. */
  get own(): OwnLine | undefined {
    return this.#own;
  }

  /** Sets the topics. Rejects if one is refused, on either line. */
  async set(topics: readonly string[]): Promise<void> {
    this.#wanted = topics;
    try {
      await this.#ask();
    } catch (error) {
      if ((error as ApiError).code !== tooManyTopics) throw error;
      await this.#hearAlone();
    }
  }

  /** The shared line has the topics it was asked for; `isAnew` if it has just been opened. */
  heard(isAnew: boolean): void {
    // A line that was heard before and has changed for this tab is the same: nothing was missed.
    if (isAnew || !this.#isHeard) this.#isOpen = false;
    this.#isHeard = true;
    this.#granted = this.#asked;
    if (this.#asked === this.#wanted) this.#fits();
    this.#tell();
    if (isAnew) this.comeBack();
  }

  /** A signal of the shared line. */
  take(signal: Heard): void {
    const [, id] = signal;
    // The shared line may be ahead with it where that was asked for the same: then it would come
    // out of order.
    if (id === null && this.#own?.isInCharge === true) return;
    if (this.#own?.tellsInstead(signal) !== true) this.#shared.take(signal);
  }

  /** The shared line refused this tab's topics. Returns false if the tab has to end. */
  refused({ code = "client.network", detail = "the connection ended" }: Ending): boolean {
    const changing = this.#changing;
    const isHeard = changing === undefined && this.#own?.isOpen === true;
    if (!isHeard && code !== tooManyTopics) return false;
    this.#changing = undefined;
    if (changing !== undefined) changing.reject(new ApiError(code, detail));
    // Where that is refused as well, the options are told.
    else this.#hearAlone().catch(() => undefined);
    return true;
  }

  /** The shared line may have room for topics of the tab's own line: it is asked in a moment. */
  comeBack(): void {
    if (this.#own === undefined) return;
    this.#returning ??= setTimeout(() => {
      this.#returning = undefined;
      this.#askAgain();
    }, returnMillis);
  }

  #askAgain(): void {
    // One that is still being made is asked for again once it is there.
    if (this.#own?.isOpen === false) return this.comeBack();
    if (this.#own === undefined || this.#changing !== undefined) return;
    const topics = this.#wanted;
    this.#asked = topics;
    this.#shared.begin();
    const leader = this.#options.leader();
    if (leader === undefined) return this.#options.join(topics);
    leader.setOwn(topics).then(
      () => topics === this.#wanted && this.#fits(),
      () => {
        this.#asked = [];
        this.#shared.refuse();
      },
    );
  }

  /** The caller may not hear these any more. */
  lost(data: unknown): void {
    const isAll = this.#asked === this.#wanted;
    this.#wanted = withoutEnded(this.#wanted, data);
    this.#asked = isAll ? this.#wanted : withoutEnded(this.#asked, data);
  }

  /** The shared line is gone. */
  breakOff(): void {
    [this.#isHeard, this.#isOpen, this.#granted] = [false, false, []];
    this.#shared.refuse();
  }

  /** Closes the tab's own line. */
  close(): void {
    this.#changing?.reject(new ApiError("client.network", "the connection has ended"));
    clearTimeout(this.#returning);
    this.#own?.close();
    this.#own = undefined;
    this.#shared.stop();
  }

  async #ask(): Promise<void> {
    this.#asked = this.#wanted;
    // It may deliver signals of the other line before it is known to have their topics.
    if (this.#own !== undefined) this.#shared.begin();
    const leader = this.#options.leader();
    if (leader !== undefined) {
      await leader.setOwn(this.#asked);
      return this.#fits();
    }
    await new Promise<void>((resolve, reject) => {
      this.#changing = { resolve, reject };
      this.#options.join(this.#asked);
    });
  }

  /** The shared line hears all that is wanted. */
  #fits(): void {
    [this.#asked, this.#granted] = [this.#wanted, this.#wanted];
    if (this.#own !== undefined) {
      this.#own.leaveSoon();
      this.#shared.begin();
    }
    this.#shared.drain();
    this.#own = undefined;
    this.#changing?.resolve();
    this.#changing = undefined;
  }

  /** Opens a line for topics that the shared one has no room for. Rejects if they are refused. */
  async #hearAlone(): Promise<void> {
    this.#shared.refuse();
    // Until then its earlier topics stay subscribed there.
    this.#asked = this.#granted.filter((topic) => this.#wanted.includes(topic));
    if (this.#own === undefined) await this.#openOwn().opened;
    else await this.#own.setTopics(this.#wanted);
    // It may have ended, or the shared line was asked anew.
    if (this.#own === undefined || this.#changing !== undefined) return;
    this.#asked = [];
    const leader = this.#options.leader();
    if (leader === undefined) this.#options.join([]);
    else leader.giveUpOwn();
    this.#tell();
  }

  #openOwn(): OwnLine {
    const topics = this.#wanted;
    const { leaving, signal, openOwn } = this.#options;
    this.#own = new OwnLine({
      topics,
      isLater: this.#asked.length > 0,
      leaving,
      open: (receiver) => openOwn(topics, receiver),
      signal,
      ended: (ending) => {
        this.#own = undefined;
        this.#options.ended(ending);
      },
    });
    return this.#own;
  }

  /** Tells once both lines are heard, or the one that there is. */
  #tell(): void {
    if (!this.#isHeard || this.#isOpen || this.#own?.isOpen === false) return;
    this.#isOpen = true;
    this.#options.opened();
  }
}
