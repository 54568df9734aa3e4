// Lines over WebSocket: signals, acknowledgements and commands as frames of JSON (service.md "Realtime wire protocol").
import { ApiError, errorOf } from "../core.js";
import { lineAddress, platform, type Socket } from "./platform.js";
import { isFinalKind, type Command, type Dial, type Ending } from "./port.js";
import type { Line, Receiver, Transport } from "./port.js";

/** Opens a WebSocket: that of the platform, or one of a library on a Node.js without. */
export type MakeSocket = (url: string, protocols: string[]) => Socket;

/** Bytes of a frame that the service takes. */
const maxFrameBytes = 64 * 1024;
/** Close codes of RFC 6455 §7.4.1 that carry what the service refuses with. */
const [refused, failed] = [1008, 1011];
/** Refusals that pass; a close says no more than their code. */
const passing = ["realtime_connections_limit", "core.throttled"];
/** How long an answer to the first frame, or to a probe, may take. */
const patienceMillis = 20_000;
/** A line that has said nothing for so long is probed. */
const silenceMillis = 45_000;

type Timer = ReturnType<typeof setTimeout>;

export function webSocket(make: MakeSocket = ofPlatform): Transport {
  return { open: (dial, receiver) => new WebSocketLine(make, dial, receiver) };
}

function ofPlatform(url: string, protocols: string[]): Socket {
  const { WebSocket } = platform;
  if (WebSocket === undefined) throw new Error("there is no WebSocket: give webSocket() one");
  return new WebSocket(url, protocols);
}

interface Waiting {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: ApiError) => void;
}

class WebSocketLine implements Line {
  readonly #socket: Socket;
  readonly #receiver: Receiver;
  /** Questions without an answer yet, by their ids. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #silence: Silence;
  #asked = 0;
  #isOpen = false;
  #isOver = false;
  #token: string | null;

  constructor(make: MakeSocket, dial: Dial, receiver: Receiver) {
    const { token } = dial;
    this.#token = token;
    this.#receiver = receiver;
    this.#silence = new Silence({
      probe: () => this.probe(),
      isOver: () => this.#end({}),
    });
    // A browser cannot send an Authorization header along.
    const bearer = token === null ? [] : [`bearer.${token}`];
    this.#socket = make(addressTo(dial), ["realtime.v1", ...bearer]);
    this.#socket.addEventListener("open", () => this.#admit(token));
    this.#socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    // The close that follows tells what failed.
    this.#socket.addEventListener("error", () => undefined);
    this.#socket.addEventListener("close", ({ code, reason }) =>
      this.#told(endingOf(code, reason)),
    );
  }

  acknowledge(upTo: string): void {
    if (this.#isOpen) this.#socket.send(JSON.stringify({ type: "realtime.ack", up_to: upTo }));
  }

  command({ name, payload, idempotencyKey }: Command): Promise<unknown> {
    const key = idempotencyKey === null ? {} : { idempotency_key: idempotencyKey };
    return this.#ask("cmd", { event: name, payload, ...key });
  }

  async reauthenticate(token: string): Promise<boolean> {
    this.#token = token;
    await this.#ask("realtime.reauth", { auth: { token } });
    return true;
  }

  probe(): void {
    if (!this.#isOpen || this.#token === null || this.#silence.isProbed) return;
    this.#silence.expectAnswer();
    // Any answer will do.
    this.reauthenticate(this.#token).catch(() => undefined);
  }

  close(): void {
    this.#stop();
    this.#socket.close();
  }

  /** The socket is open before the caller is admitted: the answer to the first frame tells. */
  #admit(token: string | null): void {
    this.#isOpen = true;
    const admitted = (): void => {
      this.#silence.admitted();
      this.#receiver.opened();
    };
    if (token === null) return admitted();
    this.reauthenticate(token).then(admitted, ({ code, kind, message }: ApiError) =>
      // Before the close that follows, which says less.
      this.#end({ code, detail: message, isFinal: isFinalKind(kind) }),
    );
  }

  #ask(type: string, members: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const cid = String((this.#asked += 1));
      const frame = JSON.stringify({ type, cid, ...members });
      if (new TextEncoder().encode(frame).length > maxFrameBytes)
        return reject(new ApiError("client.too_large", `a frame has ${maxFrameBytes} bytes`));
      if (!this.#isOpen) return reject(new ApiError("client.network", "the connection has ended"));
      this.#waiting.set(cid, { resolve, reject });
      this.#socket.send(frame);
    });
  }

  #take(text: string): void {
    if (this.#isOver) return;
    this.#silence.heard();
    const frame = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (frame["type"] === "ack") {
      const cid = String(frame["cid"]);
      const answered = this.#waiting.get(cid);
      this.#waiting.delete(cid);
      if (frame["error"] === undefined) answered?.resolve(frame["data"]);
      else answered?.reject(errorOf(frame["error"]));
    } else if (typeof frame["event"] === "string") {
      this.#receiver.signal(frame["event"], frame["id"] as string | null, frame["data"]);
    }
  }

  /** Ends the line, from this side. */
  #end(ending: Ending): void {
    this.#told(ending);
    this.#socket.close();
  }

  #told(ending: Ending): void {
    if (this.#stop()) this.#receiver.ended(ending);
  }

  /** Whether this was the end: there is only one. */
  #stop(): boolean {
    if (this.#isOver) return false;
    [this.#isOpen, this.#isOver] = [false, true];
    this.#silence.stop();
    for (const { reject } of this.#waiting.values())
      reject(new ApiError("client.network", "the connection ended before the answer"));
    return true;
  }
}

/** Finds out whether the other side is still there: it pings, but no page can see that. */
class Silence {
  readonly #then: { readonly probe: () => void; readonly isOver: () => void };
  readonly #admission: Timer;
  #probing: Timer | undefined;
  #next: Timer;

  constructor(then: { readonly probe: () => void; readonly isOver: () => void }) {
    this.#then = then;
    this.#admission = setTimeout(then.isOver, patienceMillis);
    this.#next = setTimeout(then.probe, silenceMillis);
  }

  /** Whether an answer is waited for. */
  get isProbed(): boolean {
    return this.#probing !== undefined;
  }

  /** The other side answers in time, or the line has ended. */
  expectAnswer(): void {
    this.#probing = setTimeout(this.#then.isOver, patienceMillis);
  }

  admitted(): void {
    clearTimeout(this.#admission);
  }

  heard(): void {
    clearTimeout(this.#probing);
    this.#probing = undefined;
    clearTimeout(this.#next);
    this.#next = setTimeout(this.#then.probe, silenceMillis);
  }

  stop(): void {
    for (const timer of [this.#admission, this.#probing, this.#next]) clearTimeout(timer);
  }
}

function addressTo(dial: Dial): string {
  const url = lineAddress(dial, "ws");
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

/** The reason is `code: detail`, or a code alone. */
function endingOf(closeCode: number, reason: string): Ending {
  const [, code, detail = ""] = /^([a-z_.]+)(?:: (.*))?$/s.exec(reason) ?? [];
  if (code === undefined || ![refused, failed].includes(closeCode)) return {};
  return { code, detail, isFinal: closeCode === refused && !passing.includes(code) };
}
