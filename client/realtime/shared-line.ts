// The line of a tab that shares: it leads, or hears and talks through the tab that does.
import { callerOf, heldBy } from "../caller.js";
import { ApiError, errorOf, randomKey } from "../core.js";
import { onAbort } from "../signals.js";
import { Leader, ofTopics } from "./leader.js";
import { Place } from "./place.js";
import type { Channel, Locks } from "./platform.js";
import { deviceReplaced, type Command, type Dial, type Ending } from "./port.js";
import type { Line, Receiver, Transport } from "./port.js";
import { PresenceBoard } from "./presence.js";
import { commandFreshMillis, isNewer, type Message, type Reign } from "./tab-messages.js";
import { withoutEnded } from "./topics.js";
import { Watch } from "./watch.js";

/** How long a leader holds on after its line has ended, so that every tab has heard of that and takes its own pause. */
const lingerMillis = 200;
/** How long a tab whose device has another line waits to hear that another tab leads. */
const handoverMillis = 500;

/** With what the tabs of a browser find each other. */
export interface Means {
  readonly channel: Channel;
  readonly locks: Locks;
  /** Of the channel and of the lock. */
  readonly name: string;
  readonly caller: string;
}

interface Waiting {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: ApiError) => void;
}

export class SharedLine implements Line {
  readonly #transport: Transport;
  readonly #dial: Dial;
  readonly #receiver: Receiver;
  readonly #means: Means;
  readonly #place: Place;
  readonly #watch: Watch;
  readonly #presence = new PresenceBoard();
  readonly #tab = randomKey();
  readonly #leaving = new AbortController();
  readonly #waiting = new Map<number, Waiting>();
  /** Ends the wait for the lock. */
  #queueing = new AbortController();
  #asked = 0;
  #isOver = false;
  /** Whether it leads for other tabs alone. */
  #hasResigned = false;
  #topics: readonly string[];
  /** Whether the line hears what this tab wants to hear, as far as it has been told. */
  #hears = false;
  /** Waits for the line to hear other topics. */
  #changing: Waiting | undefined;
  #leader: Leader | undefined;
  /** Who leads, as far as this tab has heard; its own where it leads itself. */
  #reign: Reign = { term: 0, tab: "" };
  /** The last signal of the line of this tab, or behind which it began. */
  #last = "";
  #release: () => void = () => undefined;

  constructor(transport: Transport, dial: Dial, receiver: Receiver, means: Means) {
    this.#transport = transport;
    this.#dial = dial;
    this.#topics = dial.topics;
    this.#receiver = receiver;
    this.#means = means;
    this.#place = new Place({
      dial,
      caller: means.caller,
      leaving: this.#leaving.signal,
      signal: (name, id, data) => {
        if (name === "realtime.unsubscribed") this.#topics = withoutEnded(this.#topics, data);
        receiver.signal(name, id, data);
      },
      failed: () => {
        this.#finish(0);
        receiver.ended({});
      },
    });
    this.#watch = new Watch({
      ask: () => this.#leader === undefined && this.#tell({ kind: "ask" }),
      stands: () => this.#takeOver(),
    });
    means.channel.addEventListener("message", ({ data }) => this.#hear(data as Message));
    this.#seek(false);
    const { signal } = this.#leaving;
    // Who leads learns by this lock that the tab has ended, also where it can't say so.
    const live = (): Promise<void> => {
      this.#join();
      return new Promise((resolve) => onAbort(signal, resolve));
    };
    means.locks.request(`${means.name} ${this.#tab}`, { signal }, live).catch(() => undefined);
  }

  get isFollowing(): boolean {
    return this.#leader === undefined;
  }

  acknowledge(upTo: string): void {
    this.#leader?.line?.acknowledge(upTo);
  }

  command(command: Command): Promise<unknown> {
    if (this.#leader !== undefined) return this.#leader.command(command);
    const { name, payload, idempotencyKey, millis } = command;
    return new Promise((resolve, reject) => {
      const cid = (this.#asked += 1);
      const asked = { name, json: JSON.stringify(payload), idempotencyKey, millis };
      this.#waiting.set(cid, { resolve, reject });
      const until = Date.now() + commandFreshMillis;
      this.#tell({ kind: "command", tab: this.#tab, cid, until, command: asked });
    });
  }

  async reauthenticate(token: string): Promise<boolean> {
    return (await this.#leader?.line?.reauthenticate(token)) ?? true;
  }

  /** Hears these topics through whoever leads, and no others; what the other tabs want to hear stays. */
  async setTopics(topics: readonly string[]): Promise<void> {
    if (this.#leader !== undefined) {
      await this.#leader.setOwn(topics).catch((refusal: ApiError) => this.#resign(refusal));
      this.#topics = topics;
      return;
    }
    this.#topics = topics;
    await new Promise<unknown>((resolve, reject) => {
      this.#changing = { resolve, reject };
      this.#join();
    });
  }

  /** This tab alone has asked for too much: it ends, and its line goes on for the others as long as there are any. */
  #resign(refusal: ApiError): void {
    const { code, message } = refusal;
    if (!ofTopics.includes(code) || this.#leader?.isFollowed !== true) throw refusal;
    this.#hasResigned = true;
    this.#leader.setOwn([]).catch(() => undefined);
    this.#receiver.ended({ code, detail: message, isFinal: true });
  }

  probe(): void {
    this.#leader?.line?.probe?.();
  }

  close(): void {
    if (this.#isOver || this.#hasResigned) return;
    this.#tell({ kind: "leave", tab: this.#tab });
    this.#leader?.line?.close();
    this.#finish(0);
  }

  /** Waits for the lock, or takes it from a tab that stands still; leads while it has it. */
  #seek(steal: boolean): void {
    const { locks, name } = this.#means;
    const queueing = new AbortController();
    this.#queueing.abort();
    this.#queueing = queueing;
    let isHeld = false;
    locks
      .request(name, steal ? { steal } : { signal: queueing.signal }, () => {
        isHeld = true;
        return this.#lead();
      })
      .catch(() => {
        // Another tab has taken the lock: it found this one standing still.
        if (isHeld) return this.#stepDown();
        if (queueing.signal.aborted) return undefined;
        // A page without an origin has locks, which refuse: it has nobody to share with either.
        return this.#lead();
      });
  }

  #takeOver(): void {
    if (this.#leader === undefined && !this.#isOver) this.#seek(true);
  }

  /** Runs while this tab holds the lock. */
  #lead(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#breakOff();
    this.#reign = { term: Math.max(this.#reign.term + 1, Date.now()), tab: this.#tab };
    const reign = this.#reign;
    this.#leader = new Leader({
      topics: this.#topics,
      open: (topics, receiver) => this.#openLine(topics, receiver),
      opened: (topics) => {
        this.#place.opened();
        this.#hasChanged();
        this.#tell({ kind: "opened", reign, topics, last: this.#last, presence: [] });
        this.#receiver.opened();
      },
      changed: (tab, topics, all) => this.#admit(tab, topics, all),
      signal: (...signal) => {
        this.#presence.note(signal);
        this.#last = signal[1] ?? this.#last;
        this.#tell({ kind: "signal", reign, signal });
        this.#place.take(signal);
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
    return new Promise((resolve) => (this.#release = resolve));
  }

  async #openLine(topics: readonly string[], receiver: Receiver): Promise<Line | null> {
    const { client } = this.#dial;
    // A store that fails may do better when the line is next asked for.
    const held = await heldBy(client).catch(() => null);
    const token = held?.tokens?.access_token ?? null;
    // Somebody else has signed in: this line is not theirs. With tokens once, it is never without.
    if (held?.caller !== this.#means.caller) return null;
    if (token === null && this.#dial.token !== null) return null;
    // The next line tries again where it can't be found out.
    const lastEventId = await this.#place.reached().catch(() => undefined);
    if (lastEventId === undefined) return null;
    this.#last = lastEventId ?? "";
    if (callerOf(client) !== this.#means.caller) return null;
    this.#presence.clear();
    return this.#transport.open({ ...this.#dial, token, topics, lastEventId }, receiver);
  }

  #lineEnded(ending: Ending, isOwn: boolean): void {
    if (this.#isOver) return;
    // What this tab alone wants to hear is nothing that the others end for.
    if (!isOwn) this.#tell({ kind: "ended", reign: this.#reign, ending });
    this.#finish(isOwn ? 0 : lingerMillis);
    this.#receiver.ended(ending);
  }

  /** Another tab leads: this one hears through it from now on, and what its own line still says is not heard. */
  #stepDown(): void {
    const leader = this.#leader;
    if (leader === undefined || this.#isOver) return;
    this.#leader = undefined;
    this.#reign = { term: this.#reign.term, tab: "" };
    leader.line?.close();
    leader.stop();
    this.#release();
    this.#watch.heard();
    this.#seek(false);
    this.#join();
  }

  #hear(message: Message): void {
    if (this.#isOver) return;
    if ("reign" in message && !this.#isOfLeader(message)) return;
    if (this.#leader !== undefined) this.#hearAsLeader(this.#leader, message);
    else this.#hearAsFollower(message);
  }

  /** Whether a message is that of the tab that leads; one that has stood still goes on talking as if it did. */
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
      if (kind === "leading" || !isKnown) this.#join();
    }
    this.#watch.heard();
    return true;
  }

  #hearAsFollower(message: Message): void {
    switch (message.kind) {
      case "opened": {
        const isMine = (message.tab ?? this.#tab) === this.#tab;
        const hears = this.#topics.every((topic) => message.topics.includes(topic));
        if (!isMine || !hears) return;
        // A line that has changed for this tab is the one that it had before: nothing was missed.
        const isSame = this.#hears && message.tab !== undefined && this.#changing !== undefined;
        this.#hears = true;
        this.#hasChanged();
        this.#place.follow(message.last);
        if (!isSame) this.#receiver.opened();
        for (const signal of message.presence) this.#place.hear(signal);
        return;
      }
      case "signal":
        this.#place.hear(message.signal);
        return;
      case "ended":
        if ((message.tab ?? this.#tab) !== this.#tab) return;
        this.#finish(0);
        this.#receiver.ended(message.ending);
        return;
      case "answer": {
        if (message.tab !== this.#tab) return;
        const waiting = this.#waiting.get(message.cid);
        this.#waiting.delete(message.cid);
        if (message.error === undefined) waiting?.resolve(message.data);
        else waiting?.reject(errorOf(message.error));
      }
    }
  }

  #hearAsLeader(leader: Leader, message: Message): void {
    const reign = this.#reign;
    switch (message.kind) {
      case "ask":
        this.#tell({ kind: "beat", reign });
        return;
      case "join": {
        const { tab } = message;
        if (message.isHeld === true) this.#watchTab(leader, tab);
        const all = leader.join(tab, message.topics);
        if (all !== null) this.#admit(tab, message.topics, all);
        return;
      }
      case "leave":
        leader.leave(message.tab);
        return;
      case "command": {
        const { tab, cid } = message;
        void leader
          .answer(message)
          .then((answer) => this.#tell({ kind: "answer", reign, tab, cid, ...answer }));
      }
    }
  }

  #hasChanged(): void {
    this.#changing?.resolve(undefined);
    this.#changing = undefined;
  }

  #join(): void {
    this.#tell({ kind: "join", tab: this.#tab, topics: this.#topics, isHeld: true });
  }

  /** What a tab wants to hear is given up once it has ended. */
  #watchTab(leader: Leader, tab: string): void {
    if (leader.watched.has(tab)) return;
    leader.watched.add(tab);
    const leave = async (): Promise<void> => leader.leave(tab);
    const [{ locks, name }, { signal }] = [this.#means, this.#leaving];
    locks.request(`${name} ${tab}`, { signal }, leave).catch(() => undefined);
  }

  /** Tells a tab that the line hears what it wants to hear, and who is on these topics. */
  #admit(tab: string, own: readonly string[], topics: readonly string[]): void {
    const [presence, last] = [this.#presence.of(own), this.#last];
    this.#tell({ kind: "opened", reign: this.#reign, topics, last, presence, tab });
  }

  #tell(message: Message): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    if (!this.#isOver) this.#means.channel.postMessage(message);
  }

  /** Who was asked is gone. */
  #breakOff(): void {
    this.#hears = false;
    for (const { reject } of this.#waiting.values())
      reject(new ApiError("client.network", "the tab that had the connection is gone"));
    this.#waiting.clear();
  }

  #finish(lingering: number): void {
    this.#isOver = true;
    this.#watch.stop();
    this.#breakOff();
    this.#changing?.reject(new ApiError("client.network", "the connection has ended"));
    this.#leaving.abort();
    this.#queueing.abort();
    this.#leader?.stop();
    const leave = (): void => {
      this.#release();
      this.#means.channel.close();
    };
    // At once where nobody is waited for: a page that still has a lock is not kept for going back to.
    if (lingering === 0) leave();
    else setTimeout(leave, lingering);
  }
}
