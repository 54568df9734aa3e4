// The line of the tab that leads, with what all tabs want to hear: all of it is granted, or each
// tab is asked for alone.
import { ApiError } from "../core.js";
import { within } from "../signals.js";
import { ofTopics, tooManyTopics, type Command, type Ending } from "./port.js";
import type { Line, Receiver } from "./port.js";
import type { Message } from "./tab-messages.js";
import { isSame, withoutEnded } from "./topics.js";

type Asked = Extract<Message, { readonly kind: "command" }>;

export interface LeaderOptions {
  /** The leading tab's own topics. */
  readonly topics: readonly string[];
  /** Opens a line; null if the caller has changed. */
  open(topics: readonly string[], receiver: Receiver): Promise<Line | null>;
  opened(topics: readonly string[]): void;
  /** The open line has a tab's topics, and `all` topics in total. */
  changed(tab: string, topics: readonly string[], all: readonly string[]): void;
  signal: Receiver["signal"];
  /** A tab's topics are refused. */
  refused(tab: string, ending: Ending): void;
  /** The line has ended; `isOwn` if the leading tab's own topics are the reason. */
  ended(ending: Ending, isOwn: boolean): void;
  /** No other tab hears through this one any more. */
  left(): void;
  /** The line has fewer topics: there may be room for those on a tab's own line. */
  gaveBack(): void;
}

/** How long a leader waits for the topics of other tabs. */
const gatherMillis = 50;
/**
 * How long the line hears what nobody wants to hear any more: a page that is loaded anew wants the
 * same.
 */
const giveBackMillis = 500;
/** How long running commands keep the line before it is replaced for new topics. */
const commandMillis = 5_000;

export class Leader {
  line: Line | undefined;
  /** Tabs whose end will be noticed. */
  readonly watched: Set<string> = new Set();
  readonly #options: LeaderOptions;
  /** The leading tab's own topics. */
  #own: readonly string[];
  /** The topics of the tabs that are served. */
  readonly #joined = new Map<string, readonly string[]>();
  /** What tabs want to hear that the line is asked for in their turn. */
  readonly #waiting = new Map<string, readonly string[]>();
  /** The last change of the line's topics. */
  #changing: Promise<unknown> = Promise.resolve();
  /** Tabs whose topics some line was granted. */
  readonly #granted = new Set<string>();
  /** Tabs of which one has a refused topic: their topics are asked for one by one. */
  readonly #suspects = new Map<string, readonly string[]>();
  /**
   * Tabs that were granted since something was refused; null if nothing was, or nothing has been
   * granted since.
   */
  #proven: Set<string> | null = null;
  #isRefused = false;
  /** The tabs that the line was asked for, and what all want to hear. */
  #asked: readonly string[] = [];
  #topics: readonly string[];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #givingBack: ReturnType<typeof setTimeout> | undefined;
  #generation = 0;
  #isOpen = false;
  /** Whether a line is being made. */
  #isDialing = false;
  #isStopped = false;
  #onceOpen: (() => void)[] = [];
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#own = options.topics;
    this.#topics = options.topics;
    this.#openSoon();
  }

  /**
   * Sets a tab's topics. Returns all topics of the line if it has them already, otherwise null, and
   * the tab is told later. Topics of other tabs stay subscribed if the line can change.
   */
  join(tab: string, topics: readonly string[]): readonly string[] | null {
    const isHeard = this.#isOpen && topics.every((topic) => this.#topics.includes(topic));
    if (isHeard && !this.#waiting.has(tab)) {
      this.#joined.set(tab, topics);
      this.#giveBackSoon();
      return this.#topics;
    }
    if (this.#isOpen && this.line?.setTopics !== undefined) {
      this.#waiting.set(tab, topics);
      void this.#inTurn(() => this.#changeFor(tab));
      return null;
    }
    if (this.#isDialing) {
      // The opening line goes on: it is asked for further topics once it is open.
      const isAsked = topics.every((topic) => this.#topics.includes(topic));
      this.#waiting.delete(tab);
      (isAsked ? this.#joined : this.#waiting).set(tab, topics);
      return null;
    }
    this.#joined.set(tab, topics);
    this.#openSoon();
    return null;
  }

  /** Sets the leading tab's own topics. Rejects if the line can't have them. */
  setOwn(topics: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const before = this.#own;
      // If they are refused, its earlier topics that it still wants stay.
      this.#own = before.filter((topic) => topics.includes(topic));
      await this.#change(this.#unionOf([topics, ...this.#joined.values()]));
      this.#own = topics;
    });
  }

  /** The leading tab no longer uses this line; its topics are unsubscribed in a while. */
  giveUpOwn(): void {
    this.#own = [];
    this.#giveBackSoon();
  }

  /** Its topics are given up where nobody else wants to hear them. */
  leave(tab: string): void {
    for (const tabs of [this.#joined, this.#waiting, this.#suspects, this.#granted])
      tabs.delete(tab);
    this.#proven?.delete(tab);
    this.#giveBackSoon();
    if (!this.isFollowed) this.#options.left();
  }

  /** Whether other tabs hear through this one. */
  get isFollowed(): boolean {
    return [this.#joined, this.#waiting, this.#suspects].some(({ size }) => size > 0);
  }

  #giveBackSoon(): void {
    if (this.#isStopped) return;
    this.#givingBack ??= setTimeout(() => {
      this.#givingBack = undefined;
      this.#inTurn(async () => {
        const wanted = this.#unionOf([this.#own, ...this.#joined.values()]);
        const isLess = this.#topics.some((topic) => !wanted.includes(topic));
        if (isLess) await this.#change(this.#topics.filter((topic) => wanted.includes(topic)));
        // A line that can't change gives it up when it is next made.
      }).catch(() => undefined);
    }, giveBackMillis);
  }

  async command(command: Command): Promise<unknown> {
    if (!this.#isOpen) await new Promise<void>((resolve) => this.#onceOpen.push(resolve));
    if (command.signal.aborted) throw new ApiError("client.aborted", "the command was given up");
    if (this.line === undefined) throw new ApiError("client.network", "the connection has ended");
    const answer = this.line.command(command);
    this.#underWay.add(answer);
    try {
      return await answer;
    } finally {
      this.#underWay.delete(answer);
    }
  }

  /** Runs the command of another tab; resolves with what that is told. */
  answer({ command, until }: Asked): Promise<{ data: unknown } | { error: object }> {
    const payload: unknown = command.json === undefined ? undefined : JSON.parse(command.json);
    const run = async (signal: AbortSignal): Promise<unknown> => {
      // Whoever asked may have given up on this tab since, and asked another one.
      if (Date.now() > until)
        throw new ApiError("client.network", "the tab that has the connection stood still");
      return this.command({ ...command, payload, signal });
    };
    return within(command.millis, run).then(
      (data) => ({ data }),
      ({ code, message: detail, kind, context }: ApiError) => ({
        error: { code, detail, kind, context },
      }),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#givingBack);
    this.#isStopped = true;
    this.#generation += 1;
    this.line = undefined;
    this.#proceed();
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#changing.then(change);
    this.#changing = done.catch(() => undefined);
    return done;
  }

  #unionOf(topics: readonly (readonly string[])[]): readonly string[] {
    return [...new Set(topics.flat())];
  }

  /** Asks for a tab's topics separately, so that a refusal concerns no other tab. */
  async #changeFor(tab: string): Promise<void> {
    const topics = this.#waiting.get(tab);
    // The tab has left, or a line was made meanwhile that was asked for it.
    if (topics === undefined || this.#isStopped) return;
    const generation = this.#generation;
    const others = [...this.#joined].filter(([other]) => other !== tab).map(([, of]) => of);
    try {
      await this.#change(this.#unionOf([this.#own, ...others, topics]));
      if (!this.#waiting.delete(tab)) return;
      this.#joined.set(tab, topics);
      this.#granted.add(tab);
      this.#options.changed(tab, topics, this.#topics);
    } catch (error) {
      if (generation !== this.#generation || !this.#waiting.has(tab)) return;
      const { code, message } = error as ApiError;
      if (!ofTopics.includes(code)) return this.#openSoon();
      // For what does not fit, the tab makes a line of its own; until then it hears what stays.
      if (code === tooManyTopics) this.#keep(tab, topics);
      else this.leave(tab);
      this.#options.refused(tab, { code, detail: message, isFinal: true });
    }
  }

  /** A tab keeps those of these topics that it had, and isn't served the others. */
  #keep(tab: string, topics: readonly string[]): void {
    const before = this.#joined.get(tab) ?? [];
    this.#waiting.delete(tab);
    this.#joined.set(
      tab,
      before.filter((topic) => topics.includes(topic)),
    );
  }

  async #change(topics: readonly string[]): Promise<void> {
    const { line } = this;
    if (!this.#isOpen || line?.setTopics === undefined)
      throw new ApiError("client.network", "the connection can't change what it hears");
    const generation = this.#generation;
    const before = this.#topics;
    if (isSame(topics, before)) return;
    // Removed topics are unsubscribed even if new ones are refused.
    this.#topics = before.filter((topic) => topics.includes(topic));
    try {
      await line.setTopics(topics, before);
      if (generation === this.#generation) this.#topics = topics;
    } finally {
      if (before.some((topic) => !topics.includes(topic))) this.#options.gaveBack();
    }
  }

  /** The caller may not hear some topics any more: nobody asks for them again. */
  #lost(data: unknown): void {
    [this.#own, this.#topics] = [withoutEnded(this.#own, data), withoutEnded(this.#topics, data)];
    for (const [tab, topics] of this.#joined) this.#joined.set(tab, withoutEnded(topics, data));
  }

  #openSoon(): void {
    this.#timer ??= setTimeout(() => void this.#openInTurn(), gatherMillis);
  }

  /**
   * Makes the line anew once the commands on it have their answers; others wait for the next one.
   */
  async #openInTurn(): Promise<void> {
    this.#isOpen = false;
    if (this.#underWay.size > 0) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const patience = new Promise((resolve) => (timer = setTimeout(resolve, commandMillis)));
      await Promise.race([Promise.allSettled(this.#underWay), patience]);
      clearTimeout(timer);
    }
    this.#timer = undefined;
    if (!this.#isStopped) await this.#open();
  }

  async #open(): Promise<void> {
    const generation = (this.#generation += 1);
    const isCurrent = (): boolean => generation === this.#generation;
    for (const [tab, topics] of this.#waiting) this.#joined.set(tab, topics);
    this.#waiting.clear();
    this.#asked = [...this.#joined.keys()];
    this.#topics = this.#unionOf([this.#own, ...this.#joined.values()]);
    [this.#isOpen, this.#isDialing] = [false, true];
    this.line?.close();
    this.line = undefined;
    try {
      const line = await this.#options.open(this.#topics, {
        opened: () => isCurrent() && this.#opened(),
        signal: (...signal) => {
          if (!isCurrent()) return;
          const [name, , data] = signal;
          if (name === "realtime.unsubscribed") this.#lost(data);
          this.#options.signal(...signal);
        },
        ended: (ending) => isCurrent() && this.#ended(ending),
      });
      if (!isCurrent()) line?.close();
      else if (line === null) this.#options.ended({}, false);
      else this.line = line;
    } catch (error) {
      if (isCurrent()) this.#options.ended({ detail: String(error), isFinal: true }, false);
    }
  }

  #opened(): void {
    this.#isDialing = false;
    for (const tab of this.#asked) this.#granted.add(tab);
    if (this.#isRefused) this.#proven = new Set(this.#asked);
    this.#proceed();
    this.#options.opened(this.#topics);
    for (const tab of this.#waiting.keys()) void this.#inTurn(() => this.#changeFor(tab));
    for (const [tab, topics] of this.#suspects) {
      this.#suspects.delete(tab);
      // The line has them already for another tab: this one learned that just now.
      if (this.join(tab, topics) === null) {
        if (this.#waiting.has(tab)) continue;
        return;
      }
      this.#granted.add(tab);
      this.#proven?.add(tab);
    }
    this.#isRefused = false;
    this.#proven = null;
  }

  #ended(ending: Ending): void {
    if (!ofTopics.includes(ending.code ?? "")) return this.#options.ended(ending, false);
    // It was for the leading tab's own topics.
    if (this.#asked.length === 0) return this.#options.ended(ending, true);
    const there = this.#asked.filter((tab) => this.#joined.has(tab));
    const doubtful = there.filter((tab) => this.#proven?.has(tab) !== true);
    const [first] = doubtful;
    if (this.#proven !== null && doubtful.length === 1 && first !== undefined) {
      // Without it the same was granted a moment ago.
      this.leave(first);
      this.#options.refused(first, ending);
    } else {
      // First without those that are new, then without all; and then one after the other.
      const fresh = doubtful.filter((tab) => !this.#granted.has(tab));
      const isSome = fresh.length > 0 && fresh.length < there.length && !this.#isRefused;
      for (const tab of isSome ? fresh : there) {
        this.#suspects.set(tab, this.#joined.get(tab) ?? []);
        this.#joined.delete(tab);
      }
      this.#isRefused = true;
      this.#proven = null;
    }
    void this.#open();
  }

  #proceed(): void {
    this.#isOpen = true;
    for (const go of this.#onceOpen.splice(0)) go();
  }
}
