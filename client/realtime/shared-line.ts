// The line of a tab that shares: it leads, or hears and talks through the tab that does. What does
// not fit on the line that all share comes over one of the tab's own.
import { callerOf, heldBy } from "../caller.js";
import { randomKey, type ApiError } from "../core.js";
import { LeadLock } from "./lead-lock.js";
import { Leader } from "./leader.js";
import { Place, type Heard } from "./place.js";
import type { Channel } from "./platform.js";
import { deviceReplaced, ofTopics, type Command, type Dial } from "./port.js";
import type { Ending, Line, Receiver, Transport } from "./port.js";
import { PresenceBoard } from "./presence.js";
import { RelayedCommands } from "./relayed-commands.js";
import { live, onceGone, type TabLocks } from "./tab-life.js";
import { isNewer, type Message, type Reign } from "./tab-messages.js";
import { TabTopics } from "./tab-topics.js";
import { Watch } from "./watch.js";

/**
 * How long a leader holds on after its line has ended, so that every tab has heard of that and
 * takes its own pause.
 */
const lingerMillis = 200;
/** How long a tab whose device has another line waits to hear that another tab leads. */
const handoverMillis = 500;

/** The channel and lock by which the tabs of a browser find each other. */
export interface Means extends TabLocks {
  readonly channel: Channel;
  readonly caller: string;
}

export class SharedLine implements Line {
  readonly #transport: Transport;
  readonly #dial: Dial;
  readonly #receiver: Receiver;
  readonly #means: Means;
  readonly #place: Place;
  readonly #watch: Watch;
  readonly #lock: LeadLock;
  readonly #topics: TabTopics;
  readonly #presence = new PresenceBoard();
  readonly #tab = randomKey();
  readonly #relayed: RelayedCommands = new RelayedCommands(this.#tab);
  readonly #leaving = new AbortController();
  #isOver = false;
  /** Whether it leads for other tabs alone. */
  #hasResigned = false;
  #leader: Leader | undefined;
  /** The leading tab, as far as this tab knows; its own id if it leads itself. */
  #reign: Reign = { term: 0, tab: "" };
  /** The last signal of the line of this tab, or behind which it began. */
  #last = "";

  constructor(transport: Transport, dial: Dial, receiver: Receiver, means: Means) {
    this.#transport = transport;
    this.#dial = dial;
    this.#receiver = receiver;
    this.#means = means;
    this.#place = new Place({
      dial,
      caller: means.caller,
      leaving: this.#leaving.signal,
      signal: (...signal) => this.#topics.take(signal),
      failed: () => this.#leave({}),
    });
    this.#topics = new TabTopics({
      topics: dial.topics,
      leaving: this.#leaving.signal,
      leader: () => this.#leader,
      join: (topics) => this.#join(topics),
      openOwn: (topics, own) => this.#openOwn(topics, own),
      signal: (...signal) => this.#hand(signal),
      opened: () => receiver.opened(),
      ended: (ending) => this.#leave(ending),
    });
    this.#watch = new Watch({
      ask: () => this.#leader === undefined && this.#tell({ kind: "ask" }),
      stands: () => this.#leader === undefined && !this.#isOver && this.#lock.steal(),
    });
    this.#lock = new LeadLock({
      locks: means.locks,
      name: means.name,
      lead: () => this.#lead(),
      taken: () => this.#stepDown(),
    });
    means.channel.addEventListener("message", ({ data }) => this.#hear(data as Message));
    this.#lock.seek();
    live(means, this.#tab, this.#leaving.signal, () => this.#join(this.#topics.asked));
  }

  get isFollowing(): boolean {
    return this.#leader === undefined;
  }

  acknowledge(upTo: string): void {
    this.#leader?.line?.acknowledge(upTo);
  }

  command(command: Command): Promise<unknown> {
    if (this.#leader !== undefined) return this.#leader.command(command);
    return this.#relayed.ask(command, (asked) => this.#tell(asked));
  }

  async reauthenticate(token: string): Promise<boolean> {
    const lines = [this.#leader?.line, this.#topics.own].map((line) => line?.reauthenticate(token));
    return (await Promise.all(lines)).every((goesOn) => goesOn !== false);
  }

  /**
   * Sets this tab's topics on the leader's line, beside those of the other tabs. Topics that don't
   * fit there come over a line of this tab's own.
   */
  async setTopics(topics: readonly string[]): Promise<void> {
    await this.#topics.set(topics).catch((refusal: ApiError) => this.#refused(refusal));
  }

  probe(): void {
    this.#leader?.line?.probe?.();
    this.#topics.own?.probe();
  }

  close(): void {
    if (this.#isOver || this.#hasResigned) return;
    this.#tell({ kind: "leave", tab: this.#tab });
    this.#leader?.line?.close();
    this.#finish(0);
  }

  /** This tab ends. If it leads others, its line stays open for them as long as there are any. */
  #leave(ending: Ending): void {
    if (this.#isOver || this.#hasResigned) return;
    if (this.#leader?.isFollowed === true) {
      this.#hasResigned = true;
      this.#topics.close();
      this.#leader.giveUpOwn();
    } else {
      this.#tell({ kind: "leave", tab: this.#tab });
      this.#leader?.line?.close();
      this.#finish(0);
    }
    this.#receiver.ended(ending);
  }

  /** Topics that this tab alone has asked for are refused: it ends alone. */
  #refused(refusal: ApiError): void {
    const { code, message } = refusal;
    if (this.#leader === undefined || !ofTopics.includes(code)) throw refusal;
    this.#leave({ code, detail: message, isFinal: true });
  }

  /** Runs when this tab has the lock. */
  #lead(): boolean {
    if (this.#isOver) return false;
    this.#breakOff();
    this.#reign = { term: Math.max(this.#reign.term + 1, Date.now()), tab: this.#tab };
    const reign = this.#reign;
    this.#leader = new Leader({
      topics: this.#topics.asked,
      open: async (topics, receiver) => {
        const dial = await this.#dialNow();
        if (dial === null) return null;
        this.#last = dial.lastEventId ?? "";
        this.#presence.clear();
        return this.#transport.open({ ...dial, topics }, receiver);
      },
      opened: (topics) => {
        this.#place.opened();
        this.#tell({ kind: "opened", reign, topics, last: this.#last, presence: [] });
        this.#topics.heard(true);
      },
      changed: (tab, topics, all) => this.#admit(tab, topics, all),
      signal: (...signal) => {
        this.#presence.note(signal);
        this.#last = signal[1] ?? this.#last;
        this.#tell({ kind: "signal", reign, signal });
        this.#place.take(signal);
      },
      gaveBack: () => {
        this.#tell({ kind: "room", reign });
        this.#topics.comeBack();
      },
      left: () => {
        if (!this.#hasResigned) return;
        this.#leader?.line?.close();
        this.#finish(0);
      },
      refused: (tab, ending) => this.#tell({ kind: "ended", reign, tab, ending }),
      ended: (ending, isOwn) => {
        const end = (): void => {
          if (this.#reign === reign) this.#lineEnded(ending, isOwn);
        };
        // Where another tab has taken over, this one is about to hear of it.
        if (ending.code === deviceReplaced) setTimeout(end, handoverMillis);
        else end();
      },
    });
    this.#tell({ kind: "leading", reign });
    return true;
  }

  /** The settings of a new line; null if there can't be one, or its caller has signed out. */
  async #dialNow(): Promise<Dial | null> {
    const { client } = this.#dial;
    // A store that fails may do better when the line is next asked for.
    const held = await heldBy(client).catch(() => null);
    const token = held?.tokens?.access_token ?? null;
    // Somebody else has signed in: this line is not theirs. With tokens once, it is never without.
    if (held?.caller !== this.#means.caller) return null;
    if (token === null && this.#dial.token !== null) return null;
    // If it can't be found out, the next line tries again.
    const lastEventId = await this.#place.reached().catch(() => undefined);
    if (lastEventId === undefined || callerOf(client) !== this.#means.caller) return null;
    return { ...this.#dial, token, lastEventId };
  }

  /**
   * A line of this tab's own: with another device, since a device has one connection, and one of
   * which no place is kept.
   */
  async #openOwn(topics: readonly string[], receiver: Receiver): Promise<Line | null> {
    const dial = await this.#dialNow();
    const own = { topics, deviceId: randomKey(), begun: () => undefined, from: undefined };
    return dial === null ? null : this.#transport.open({ ...dial, ...own }, receiver);
  }

  #lineEnded(ending: Ending, isOwn: boolean): void {
    if (this.#isOver) return;
    // What this tab alone wants to hear is nothing that the others end for.
    if (!isOwn) this.#tell({ kind: "ended", reign: this.#reign, ending });
    this.#finish(isOwn ? 0 : lingerMillis);
    this.#receiver.ended(ending);
  }

  /**
   * Another tab leads: this one hears through it from now on, and what its own line still says is
   * not heard.
   */
  #stepDown(): void {
    const leader = this.#leader;
    if (leader === undefined || this.#isOver) return;
    this.#leader = undefined;
    this.#reign = { term: this.#reign.term, tab: "" };
    leader.line?.close();
    leader.stop();
    if (this.#hasResigned) return this.#finish(0);
    this.#lock.release();
    this.#watch.heard();
    this.#lock.seek();
    this.#join(this.#topics.asked);
  }

  #hear(message: Message): void {
    if (this.#isOver) return;
    if ("reign" in message && !this.#isOfLeader(message)) return;
    if (this.#leader !== undefined) this.#hearAsLeader(this.#leader, message);
    else this.#hearAsFollower(message);
  }

  /**
   * Whether a message is that of the tab that leads; one that has stood still goes on talking as if
   * it did.
   */
  #isOfLeader({ kind, reign }: Extract<Message, { readonly reign: Reign }>): boolean {
    const before = this.#reign;
    if (reign.tab !== before.tab || reign.term !== before.term) {
      const isLeading = this.#leader !== undefined;
      if (!isNewer(reign, before, kind, isLeading)) {
        // It hears that it leads no longer.
        if (isLeading) this.#tell({ kind: "beat", reign: before });
        return false;
      }
      this.#stepDown();
      this.#reign = reign;
      this.#breakOff();
      // Who asked before anybody led is known to whoever leads now.
      const isKnown = isLeading || before.tab === "" || kind === "opened";
      if (kind === "leading" || !isKnown) this.#join(this.#topics.asked);
    }
    this.#watch.heard();
    return true;
  }

  #hearAsFollower(message: Message): void {
    // A message to one tab names it.
    if ("tab" in message && (message.tab ?? this.#tab) !== this.#tab) return;
    switch (message.kind) {
      case "opened": {
        const { topics, last, presence, tab } = message;
        if (!this.#topics.asked.every((topic) => topics.includes(topic))) return;
        this.#place.follow(last);
        this.#topics.heard(tab === undefined);
        for (const signal of presence) this.#place.hear(signal);
        return;
      }
      case "signal":
        return this.#place.hear(message.signal);
      case "room":
        return this.#topics.comeBack();
      case "ended":
        if (message.tab !== undefined && this.#topics.refused(message.ending)) return;
        this.#finish(0);
        return this.#receiver.ended(message.ending);
      case "answer":
        this.#relayed.answered(message);
    }
  }

  #hearAsLeader(leader: Leader, message: Message): void {
    const reign = this.#reign;
    switch (message.kind) {
      case "ask":
        return this.#tell({ kind: "beat", reign });
      case "join": {
        const { tab } = message;
        if (message.isHeld === true && !leader.watched.has(tab)) {
          leader.watched.add(tab);
          onceGone(this.#means, tab, this.#leaving.signal, () => leader.leave(tab));
        }
        const all = leader.join(tab, message.topics);
        if (all !== null) this.#admit(tab, message.topics, all);
        return;
      }
      case "leave":
        return leader.leave(message.tab);
      case "command": {
        const { tab, cid } = message;
        void leader
          .answer(message)
          .then((answer) => this.#tell({ kind: "answer", reign, tab, cid, ...answer }));
      }
    }
  }

  #hand(signal: Heard): void {
    const [name, , data] = signal;
    if (name === "realtime.unsubscribed") this.#topics.lost(data);
    this.#receiver.signal(...signal);
  }

  #join(topics: readonly string[]): void {
    this.#tell({ kind: "join", tab: this.#tab, topics, isHeld: true });
  }

  /** Tells a tab that the line has its topics, and their presence. */
  #admit(tab: string, own: readonly string[], topics: readonly string[]): void {
    const [presence, last] = [this.#presence.of(own), this.#last];
    this.#tell({ kind: "opened", reign: this.#reign, topics, last, presence, tab });
  }

  #tell(message: Message): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    if (!this.#isOver) this.#means.channel.postMessage(message);
  }

  /** The tab that was asked is gone. */
  #breakOff(): void {
    this.#topics.breakOff();
    this.#relayed.breakOff();
  }

  #finish(lingering: number): void {
    this.#isOver = true;
    this.#watch.stop();
    this.#breakOff();
    this.#topics.close();
    this.#leaving.abort();
    this.#lock.stop();
    this.#leader?.stop();
    const leave = (): void => {
      this.#lock.release();
      this.#means.channel.close();
    };
    // At once where nobody is waited for: a page that still has a lock is not kept for going back
    // to.
    if (lingering === 0) leave();
    else setTimeout(leave, lingering);
  }
}
