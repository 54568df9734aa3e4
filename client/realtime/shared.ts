// One line for all tabs of a browser: one of them leads (Web Locks), the others hear and talk through it (BroadcastChannel).
import {
  ApiError,
  call,
  errorOf,
  randomKey,
  timerMillis,
  tokensOf,
  type Operation,
} from "../core.js";
import { callerOf } from "../token.js";
import { Leader } from "./leader.js";
import { platform, type Channel, type Locks } from "./platform.js";
import type { Command, Dial, Ending, Line, Receiver, Transport } from "./port.js";

/** What tabs tell each other. `tab` is whom it is for, or whom it comes from. */
type Message =
  | { readonly kind: "leading" }
  | { readonly kind: "join"; readonly tab: string; readonly topics: readonly string[] }
  | { readonly kind: "leave"; readonly tab: string }
  /** A line has been made, or was there when `tab` joined; these topics are heard over it, behind the signal `last`. */
  | {
      readonly kind: "opened";
      readonly topics: readonly string[];
      readonly last: string;
      readonly tab?: string;
    }
  | { readonly kind: "signal"; readonly signal: Heard }
  /** The line has ended for all, or what `tab` wants to hear is not granted. */
  | { readonly kind: "ended"; readonly ending: Ending; readonly tab?: string }
  | {
      readonly kind: "command";
      readonly tab: string;
      readonly cid: number;
      /** The payload as JSON, as it travels on: not all that JSON takes can be cloned. */
      readonly command: Pick<Command, "name" | "idempotencyKey" | "millis"> & {
        readonly json: string | undefined;
      };
    }
  | {
      readonly kind: "answer";
      readonly tab: string;
      readonly cid: number;
      readonly data?: unknown;
      readonly error?: object;
    };

/** How long a leader holds on after its line has ended, so that every tab has heard of that and takes its own pause. */
const lingerMillis = 200;

type Heard = readonly [name: string, id: string | null, data: unknown];

/**
 * The line of a transport, opened once a browser. Where there are no tabs, no means to share, or tokens that do not say whose
 * they are, it is the transport itself.
 */
export function shared(transport: Transport): Transport {
  const { BroadcastChannel, navigator } = platform;
  if (BroadcastChannel === undefined || navigator?.locks === undefined) return transport;
  const { locks } = navigator;
  const places = new Map<string, string>();
  return {
    isShared: true,
    open(dial, receiver) {
      const caller = dial.token === null ? "" : callerOf(dial.token);
      if (caller === "") return transport.open(dial, receiver);
      // Tabs share where they are the same caller on the same device.
      const name = `opwright ${dial.client.baseUrl}${dial.path} ${dial.deviceId} ${caller}`;
      const means = { channel: new BroadcastChannel(name), locks, name, caller, places };
      return new SharedLine(transport, dial, receiver, means);
    },
  };
}

interface Means {
  readonly channel: Channel;
  readonly locks: Locks;
  /** Of the channel and of the lock. */
  readonly name: string;
  readonly caller: string;
  /** Behind which signal this tab began, by the name of its line; empty is the beginning. */
  readonly places: Map<string, string>;
}

/** A page of the caller's mailbox, as `<path>/history` answers. */
interface History {
  readonly signals: readonly {
    readonly event: string;
    readonly id: string;
    readonly data: unknown;
  }[];
  readonly gap: unknown;
  readonly has_more: boolean;
}

interface Waiting {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: ApiError) => void;
}

class SharedLine implements Line {
  readonly #transport: Transport;
  readonly #dial: Dial;
  readonly #receiver: Receiver;
  readonly #channel: Channel;
  readonly #name: string;
  readonly #caller: string;
  readonly #places: Map<string, string>;
  readonly #tab = randomKey();
  readonly #leaving = new AbortController();
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #isOver = false;
  /** The last signal that this tab heard; empty where that was none yet, undefined before its first line. */
  #place: string | undefined;
  /** Whether it is known how that stands to what the others heard: a kept signal before that is asked for then. */
  #isPlaced = false;
  /** What this tab heard up to there is sent again, for a leader that has not. */
  #skipTo: string | undefined;
  /** Runs while signals are asked for that other tabs have heard without this one. */
  #catchingUp: Promise<void> | undefined;
  /** Signals behind those. */
  #held: Heard[] = [];
  #leader: Leader | undefined;
  #release: () => void = () => undefined;

  constructor(
    transport: Transport,
    dial: Dial,
    receiver: Receiver,
    { channel, locks, name, caller, places }: Means,
  ) {
    this.#transport = transport;
    this.#dial = dial;
    this.#receiver = receiver;
    this.#channel = channel;
    this.#name = name;
    this.#caller = caller;
    this.#places = places;
    this.#place = dial.lastEventId ?? places.get(name);
    channel.addEventListener("message", ({ data }) => this.#hear(data as Message));
    locks
      .request(name, { signal: this.#leaving.signal }, () => this.#lead())
      // A page without an origin has locks, which refuse: it has nobody to share with either.
      .catch(() => this.#lead());
    this.#join();
  }

  get isFollowing(): boolean {
    return this.#leader === undefined;
  }

  acknowledge(upTo: string): void {
    // What another tab has handled is not for this one to acknowledge.
    this.#leader?.line?.acknowledge(upTo);
  }

  command(command: Command): Promise<unknown> {
    if (this.#leader !== undefined) return this.#leader.command(command);
    const { name, payload, idempotencyKey, millis } = command;
    return new Promise((resolve, reject) => {
      const cid = (this.#asked += 1);
      const asked = { name, json: JSON.stringify(payload), idempotencyKey, millis };
      this.#waiting.set(cid, { resolve, reject });
      this.#tell({ kind: "command", tab: this.#tab, cid, command: asked });
    });
  }

  async reauthenticate(token: string): Promise<boolean> {
    return (await this.#leader?.line?.reauthenticate(token)) ?? true;
  }

  probe(): void {
    this.#leader?.line?.probe?.();
  }

  close(): void {
    if (this.#isOver) return;
    this.#tell({ kind: "leave", tab: this.#tab });
    this.#leader?.line?.close();
    this.#finish(0);
  }

  /** Runs while this tab holds the lock. */
  #lead(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#breakOff();
    this.#leader = new Leader({
      topics: this.#dial.topics,
      open: async (topics, receiver) => {
        // A store that fails may do better when the line is next asked for.
        const tokens = await tokensOf(this.#dial.client).catch(() => null);
        const token = tokens?.access_token ?? null;
        // Somebody else has signed in: this line is not theirs.
        if (token === null || callerOf(token) !== this.#caller) return null;
        await this.#catchingUp;
        // A tab that has heard nothing yet begins where the service knows this device to be.
        const lastEventId = this.#place === "" ? null : (this.#place ?? null);
        return this.#transport.open({ ...this.#dial, token, topics, lastEventId }, receiver);
      },
      opened: (topics) => {
        this.#begin("");
        this.#tell({ kind: "opened", topics, last: this.#place ?? "" });
        this.#receiver.opened();
      },
      signal: (...signal) => {
        this.#tell({ kind: "signal", signal });
        this.#take(signal);
      },
      refused: (tab, ending) => this.#tell({ kind: "ended", tab, ending }),
      ended: (ending, isOwn) => {
        // What this tab alone wants to hear is nothing that the others end for.
        if (!isOwn) this.#tell({ kind: "ended", ending });
        this.#finish(isOwn ? 0 : lingerMillis);
        this.#receiver.ended(ending);
      },
    });
    this.#tell({ kind: "leading" });
    return new Promise((resolve) => (this.#release = resolve));
  }

  #hear(message: Message): void {
    if (this.#isOver) return;
    if (this.#leader !== undefined) return this.#hearAsLeader(this.#leader, message);
    switch (message.kind) {
      case "leading":
        this.#breakOff();
        this.#join();
        return;
      case "opened": {
        const isMine = (message.tab ?? this.#tab) === this.#tab;
        const hears = this.#dial.topics.every((topic) => message.topics.includes(topic));
        if (!isMine || !hears) return;
        this.#begin(message.last);
        if (this.#place !== message.last) this.#catchingUp ??= this.#catchUp(message.last);
        this.#receiver.opened();
        return;
      }
      case "signal":
        if (!this.#isPlaced && message.signal[1] !== null) return;
        if (this.#catchingUp === undefined) this.#take(message.signal);
        else this.#held.push(message.signal);
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
    switch (message.kind) {
      case "join": {
        const { tab } = message;
        const topics = leader.join(tab, message.topics);
        if (topics !== null) this.#tell({ kind: "opened", topics, last: this.#place ?? "", tab });
        return;
      }
      case "leave":
        leader.leave(message.tab);
        return;
      case "command": {
        const { tab, cid, command } = message;
        const payload: unknown = command.json === undefined ? undefined : JSON.parse(command.json);
        const signal = AbortSignal.timeout(timerMillis(command.millis));
        leader.command({ ...command, payload, signal }).then(
          (data) => this.#tell({ kind: "answer", tab, cid, data }),
          ({ code, message: detail, kind, context }: ApiError) =>
            this.#tell({ kind: "answer", tab, cid, error: { code, detail, kind, context } }),
        );
      }
    }
  }

  /** A tab that hears its first line begins behind what others have heard. */
  #begin(last: string): void {
    if (!this.#places.has(this.#name)) this.#places.set(this.#name, last);
    this.#place ??= last;
    this.#isPlaced = true;
  }

  #take([name, id, data]: Heard): void {
    if (id !== null && this.#skipTo !== undefined) {
      if (id === this.#skipTo) this.#skipTo = undefined;
      return;
    }
    if (id !== null) this.#place = id;
    this.#receiver.signal(name, id, data);
  }

  /** Reads what others heard while this tab was on no line; signals that come meanwhile are behind that. */
  async #catchUp(last: string): Promise<void> {
    try {
      let isBehind = false;
      for (let hasMore = true; hasMore;) {
        const { signals, gap, has_more } = await this.#history(this.#place);
        if (this.#isOver) return;
        isBehind ||= gap !== null || signals.length > 0;
        if (gap !== null) this.#take(["realtime.gap", null, gap]);
        // What is gone is not asked for again.
        if (gap !== null && signals.length === 0) this.#place = last;
        for (const { event, id, data } of signals) this.#take([event, id, data]);
        hasMore = has_more;
      }
      if (!isBehind && last !== "" && (await this.#isAheadOf(last))) this.#skipTo = this.#place;
      for (const signal of this.#held.splice(0)) this.#take(signal);
      this.#catchingUp = undefined;
    } catch {
      // The next line tries again.
      if (this.#isOver) return;
      this.#finish(0);
      this.#receiver.ended({});
    }
  }

  /** Whether this tab has heard more than the one that leads, whose last signal is that. */
  async #isAheadOf(last: string): Promise<boolean> {
    for (let from: string | undefined = last; from !== undefined;) {
      const { signals, has_more }: History = await this.#history(from);
      if (signals.some(({ id }) => id === this.#place)) return true;
      from = has_more ? signals.at(-1)?.id : undefined;
    }
    return false;
  }

  async #history(place: string | undefined): Promise<History> {
    const { client, path } = this.#dial;
    const history: Operation = {
      method: "GET",
      path: `${path}/history`,
      query: ["after"],
      repeats: "safe",
    };
    const after = place === "" ? undefined : place;
    const options = { signal: this.#leaving.signal };
    const page = await call<History, string>(client, history, { after }, options).settled();
    // Somebody else has signed in: it is their mailbox.
    const tokens = await tokensOf(client);
    if (callerOf(tokens?.access_token ?? "") !== this.#caller) throw new Error("another caller");
    if (page.ok) return page.data;
    if (page.error.code !== "core.validation" || after === undefined) throw page.error;
    // The service has another mailbox by now, in which there is no such place: all of it is new.
    return this.#history("");
  }

  #join(): void {
    this.#tell({ kind: "join", tab: this.#tab, topics: this.#dial.topics });
  }

  #tell(message: Message): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    if (!this.#isOver) this.#channel.postMessage(message);
  }

  /** Who was asked is gone. */
  #breakOff(): void {
    for (const { reject } of this.#waiting.values())
      reject(new ApiError("client.network", "the tab that had the connection is gone"));
    this.#waiting.clear();
  }

  #finish(lingering: number): void {
    this.#isOver = true;
    this.#breakOff();
    this.#leaving.abort();
    this.#leader?.stop();
    const leave = (): void => {
      this.#release();
      this.#channel.close();
    };
    // At once where nobody is waited for: a page that still has a lock is not kept for going back to.
    if (lingering === 0) leave();
    else setTimeout(leave, lingering);
  }
}
