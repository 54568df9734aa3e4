// One line for all tabs of a browser: one of them leads (Web Locks), the others hear and talk through it (BroadcastChannel).
import { ApiError, errorOf, randomKey, tokensOf } from "../core.js";
import { within } from "../signals.js";
import { callerOf } from "../token.js";
import { Leader } from "./leader.js";
import { Place, type Heard } from "./place.js";
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

interface Waiting {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: ApiError) => void;
}

class SharedLine implements Line {
  readonly #transport: Transport;
  readonly #dial: Dial;
  readonly #receiver: Receiver;
  readonly #channel: Channel;
  readonly #caller: string;
  readonly #place: Place;
  readonly #tab = randomKey();
  readonly #leaving = new AbortController();
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #isOver = false;
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
    this.#caller = caller;
    this.#place = new Place({
      dial,
      caller,
      name,
      places,
      leaving: this.#leaving.signal,
      signal: (...signal) => receiver.signal(...signal),
      failed: () => {
        this.#finish(0);
        receiver.ended({});
      },
    });
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
        const lastEventId = await this.#place.reached();
        return this.#transport.open({ ...this.#dial, token, topics, lastEventId }, receiver);
      },
      opened: (topics) => {
        this.#place.begin();
        this.#tell({ kind: "opened", topics, last: this.#place.last });
        this.#receiver.opened();
      },
      signal: (...signal) => {
        this.#tell({ kind: "signal", signal });
        this.#place.take(signal);
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
        this.#place.follow(message.last);
        this.#receiver.opened();
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
    switch (message.kind) {
      case "join": {
        const { tab } = message;
        const topics = leader.join(tab, message.topics);
        if (topics !== null) this.#tell({ kind: "opened", topics, last: this.#place.last, tab });
        return;
      }
      case "leave":
        leader.leave(message.tab);
        return;
      case "command": {
        const { tab, cid, command } = message;
        const payload: unknown = command.json === undefined ? undefined : JSON.parse(command.json);
        const run = (signal: AbortSignal): Promise<unknown> =>
          leader.command({ ...command, payload, signal });
        within(command.millis, run).then(
          (data) => this.#tell({ kind: "answer", tab, cid, data }),
          ({ code, message: detail, kind, context }: ApiError) =>
            this.#tell({ kind: "answer", tab, cid, error: { code, detail, kind, context } }),
        );
      }
    }
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
