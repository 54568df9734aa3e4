// One line for all tabs of a browser: one of them leads (Web Locks), the others hear and talk through it (BroadcastChannel).
import { ApiError, errorOf, randomKey, timerMillis, tokensOf } from "../core.js";
import { callerOf } from "../token.js";
import { Leader } from "./leader.js";
import { platform, type Channel, type Locks } from "./platform.js";
import type { Command, Dial, Ending, Line, Receiver, Transport } from "./port.js";

/** What tabs tell each other. `tab` is whom it is for, or whom it comes from. */
type Message =
  | { readonly kind: "leading" }
  | { readonly kind: "join"; readonly tab: string; readonly topics: readonly string[] }
  | { readonly kind: "leave"; readonly tab: string }
  /** A line has been made, or was there when `tab` joined; these topics are heard over it. */
  | { readonly kind: "opened"; readonly topics: readonly string[]; readonly tab?: string }
  | { readonly kind: "signal"; readonly signal: readonly [string, string | null, unknown] }
  /** The line has ended for all, or what `tab` wants to hear is not granted. */
  | { readonly kind: "ended"; readonly ending: Ending; readonly tab?: string }
  | {
      readonly kind: "command";
      readonly tab: string;
      readonly cid: number;
      readonly command: Pick<Command, "name" | "payload" | "idempotencyKey" | "millis">;
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
  return {
    isShared: true,
    open(dial, receiver) {
      const caller = dial.token === null ? "" : callerOf(dial.token);
      if (caller === "") return transport.open(dial, receiver);
      // Tabs share where they are the same caller on the same device.
      const name = `opwright ${dial.client.baseUrl}${dial.path} ${dial.deviceId} ${caller}`;
      const means = { channel: new BroadcastChannel(name), locks, name, caller };
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
  readonly #tab = randomKey();
  readonly #leaving = new AbortController();
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #lastEventId: string | null;
  #isOver = false;
  #leader: Leader | undefined;
  #release: () => void = () => undefined;

  constructor(
    transport: Transport,
    dial: Dial,
    receiver: Receiver,
    { channel, locks, name, caller }: Means,
  ) {
    this.#transport = transport;
    this.#dial = dial;
    this.#receiver = receiver;
    this.#lastEventId = dial.lastEventId;
    this.#channel = channel;
    this.#caller = caller;
    channel.addEventListener("message", ({ data }) => this.#hear(data as Message));
    locks
      .request(name, { signal: this.#leaving.signal }, () => this.#lead())
      // It is refused only to who has left.
      .catch(() => undefined);
    this.#join();
  }

  get isFollowing(): boolean {
    return this.#leader === undefined;
  }

  acknowledge(upTo: string): void {
    this.#lastEventId = upTo;
    // What another tab has handled is not for this one to acknowledge.
    this.#leader?.line?.acknowledge(upTo);
  }

  command(command: Command): Promise<unknown> {
    if (this.#leader !== undefined) return this.#leader.command(command);
    const { name, payload, idempotencyKey, millis } = command;
    return new Promise((resolve, reject) => {
      const cid = (this.#asked += 1);
      this.#waiting.set(cid, { resolve, reject });
      const asked = { name, payload, idempotencyKey, millis };
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
        return this.#transport.open(
          { ...this.#dial, token, topics, lastEventId: this.#lastEventId },
          receiver,
        );
      },
      opened: (topics) => {
        this.#tell({ kind: "opened", topics });
        this.#receiver.opened();
      },
      signal: (name, id, data) => {
        this.#tell({ kind: "signal", signal: [name, id, data] });
        this.#receiver.signal(name, id, data);
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
        if (isMine && hears) this.#receiver.opened();
        return;
      }
      case "signal":
        this.#receiver.signal(...message.signal);
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
        if (topics !== null) this.#tell({ kind: "opened", topics, tab });
        return;
      }
      case "leave":
        leader.leave(message.tab);
        return;
      case "command": {
        const { tab, cid, command } = message;
        const signal = AbortSignal.timeout(timerMillis(command.millis));
        leader.command({ ...command, signal }).then(
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
    setTimeout(() => {
      this.#release();
      this.#channel.close();
    }, lingering);
  }
}
