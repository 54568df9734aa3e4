// The line of the tab that leads, with what all tabs want to hear: all of it is granted, or each tab is asked for alone.
import { ApiError } from "../core.js";
import type { Command, Ending, Line, Receiver } from "./port.js";

export interface LeaderOptions {
  /** What the leading tab itself wants to hear. */
  readonly topics: readonly string[];
  /** Opens a line; null where the caller is another by now. */
  open(topics: readonly string[], receiver: Receiver): Promise<Line | null>;
  opened(topics: readonly string[]): void;
  signal: Receiver["signal"];
  /** What a tab wants to hear is not granted. */
  refused(tab: string, ending: Ending): void;
  /** The line has ended; `isOwn` where that is for what the leading tab wants to hear. */
  ended(ending: Ending, isOwn: boolean): void;
}

/** How long a leader waits for what other tabs want to hear. */
const gatherMillis = 50;
/** How long the line is kept for commands that are under way, before it is made anew for what is to be heard. */
const commandMillis = 5_000;
/** Refusals that are about topics. */
const ofTopics = ["realtime_topics_unauthorized", "realtime_topics_limit"];

export class Leader {
  line: Line | undefined;
  readonly #options: LeaderOptions;
  /** What the tabs that are asked for want to hear. */
  readonly #joined = new Map<string, readonly string[]>();
  /** Tabs whose topics some line was granted. */
  readonly #granted = new Set<string>();
  /** Tabs among which one asks for what is not granted: they are asked for one by one. */
  readonly #suspects = new Map<string, readonly string[]>();
  /** Tabs that were granted since something was refused; null where nothing was, or nothing has been granted since. */
  #proven: Set<string> | null = null;
  #isRefused = false;
  /** The tabs that the line was asked for, and what all want to hear. */
  #asked: readonly string[] = [];
  #topics: readonly string[];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #generation = 0;
  #isOpen = false;
  #isStopped = false;
  #onceOpen: (() => void)[] = [];
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#topics = options.topics;
    this.#openSoon();
  }

  /** Hears these topics as well; returns what is heard where they are heard already, else null. */
  join(tab: string, topics: readonly string[]): readonly string[] | null {
    this.#joined.set(tab, topics);
    if (this.#isOpen && topics.every((topic) => this.#topics.includes(topic))) return this.#topics;
    this.#openSoon();
    return null;
  }

  /** Its topics are given up when the line is next made anew. */
  leave(tab: string): void {
    for (const tabs of [this.#joined, this.#suspects, this.#granted]) tabs.delete(tab);
    this.#proven?.delete(tab);
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

  stop(): void {
    clearTimeout(this.#timer);
    this.#isStopped = true;
    this.#generation += 1;
    this.line = undefined;
    this.#proceed();
  }

  #openSoon(): void {
    this.#timer ??= setTimeout(() => void this.#openInTurn(), gatherMillis);
  }

  /** Makes the line anew once the commands on it have their answers; others wait for the next one. */
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
    this.#asked = [...this.#joined.keys()];
    this.#topics = [...new Set([this.#options.topics, ...this.#joined.values()].flat())];
    this.#isOpen = false;
    this.line?.close();
    this.line = undefined;
    try {
      const line = await this.#options.open(this.#topics, {
        opened: () => isCurrent() && this.#opened(),
        signal: (name, id, data) => isCurrent() && this.#options.signal(name, id, data),
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
    for (const tab of this.#asked) this.#granted.add(tab);
    if (this.#isRefused) this.#proven = new Set(this.#asked);
    this.#proceed();
    this.#options.opened(this.#topics);
    for (const [tab, topics] of this.#suspects) {
      this.#suspects.delete(tab);
      // What is heard already was granted to another: the tab knows by what was told just now.
      if (this.join(tab, topics) === null) return;
      this.#granted.add(tab);
      this.#proven?.add(tab);
    }
    this.#isRefused = false;
    this.#proven = null;
  }

  #ended(ending: Ending): void {
    if (!ofTopics.includes(ending.code ?? "")) return this.#options.ended(ending, false);
    // It was for what the leading tab itself wants to hear.
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
