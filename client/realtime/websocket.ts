// Lines over WebSocket: signals, acknowledgements and commands as frames of JSON (service.md
// "Realtime wire protocol").
import { ApiError } from "../core.js";
import { lineAddress, platform, type Socket } from "./platform.js";
import { changeTopics, contentOf, isFinalKind, type Command, type Dial } from "./port.js";
import type { Ending, Envelope, Line, Receiver, Transport } from "./port.js";
import { Span, type LineAnswer } from "./span.js";

/** Opens a WebSocket: that of the platform, or one of a library on a Node.js without. */
export type MakeSocket = (url: string, protocols: string[]) => Socket;

/** Bytes of a frame that the service takes. */
const maxFrameBytes = 64 * 1024;
/** Close codes of RFC 6455 §7.4.1 that carry a refusal of the service. */
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

class WebSocketLine implements Line {
  readonly #socket: Socket;
  readonly #receiver: Receiver;
  readonly #span: Span;
  /** What takes the answers, by the ids of the questions. */
  readonly #answers = new Map<string, (answer: LineAnswer) => void>();
  /** Questions that an older service does not know. */
  readonly #unsure = new Set<string>();
  readonly #silence: Silence;
  #asked = 0;
  #token: string | null;

  constructor(make: MakeSocket, dial: Dial, receiver: Receiver) {
    const { token } = dial;
    this.#token = token;
    this.#receiver = receiver;
    this.#span = new Span(receiver);
    // A browser cannot send an Authorization header along.
    const bearer = token === null ? [] : [`bearer.${token}`];
    // It may throw, and leave nothing behind.
    this.#socket = make(addressTo(dial), ["realtime.v1", ...bearer]);
    this.#silence = new Silence({
      probe: () => this.probe(),
      isOver: () => this.#end({}),
    });
    this.#socket.addEventListener("open", () => this.#admit(token));
    this.#socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    // The close that follows tells what failed.
    this.#socket.addEventListener("error", () => undefined);
    this.#socket.addEventListener("close", ({ code, reason }) =>
      this.#ended(endingOf(code, reason)),
    );
  }

  acknowledge(upTo: string): void {
    if (this.#span.isOpen) this.#socket.send(JSON.stringify({ type: "realtime.ack", up_to: upTo }));
  }

  command({ name, payload, idempotencyKey }: Command): Promise<unknown> {
    const key = idempotencyKey === null ? {} : { idempotency_key: idempotencyKey };
    return this.#ask("cmd", { event: name, payload, ...key });
  }

  setTopics(topics: readonly string[], before: readonly string[]): Promise<void> {
    return changeTopics(topics, before, (name, given) => this.#ask(name, { topics: given }, true));
  }

  async reauthenticate(token: string): Promise<boolean> {
    this.#token = token;
    await this.#ask("realtime.reauth", { auth: { token } });
    return true;
  }

  probe(): void {
    if (!this.#span.isOpen || this.#silence.isProbed) return;
    this.#silence.expectAnswer();
    // Any answer will do.
    this.#askWhoCalls(this.#token).catch(() => undefined);
  }

  close(): void {
    this.#silence.stop();
    this.#span.stop();
    this.#socket.close();
  }

  /** The socket is open before the caller is admitted: the answer to the first frame tells. */
  #admit(token: string | null): void {
    this.#span.isOpen = true;
    const admitted = (): void => {
      this.#silence.admitted();
      this.#receiver.opened();
    };
    this.#askWhoCalls(token).then(admitted, ({ code, kind, message }: ApiError) =>
      // Before the close that follows, which says less.
      this.#end({ code, detail: message, isFinal: isFinalKind(kind) }),
    );
  }

  /** A question that every service answers, which admits whoever has a token. */
  async #askWhoCalls(token: string | null): Promise<void> {
    if (token !== null) await this.reauthenticate(token);
    // Who has none asks for nothing; that it is no question tells as much.
    else
      await this.#ask("realtime.subscribe", { topics: [] }, true).catch((error: ApiError) => {
        if (this.#span.isOver) throw error;
      });
  }

  /**
   * `isNew` is a frame that an older service may not know: it answers that with an error that names
   * no question.
   */
  async #ask(type: string, members: object, isNew = false): Promise<unknown> {
    const cid = String((this.#asked += 1));
    const frame = JSON.stringify({ type, cid, ...members });
    if (new TextEncoder().encode(frame).length > maxFrameBytes)
      throw new ApiError("client.too_large", `a frame has ${maxFrameBytes} bytes`);
    return this.#span.ask((take) => {
      this.#answers.set(cid, take);
      if (isNew) this.#unsure.add(cid);
      this.#socket.send(frame);
    });
  }

  #take(text: string): void {
    if (this.#span.isOver) return;
    this.#silence.heard();
    const frame = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (frame["type"] === "ack") {
      const cid = String(frame["cid"]);
      this.#answer(cid, frame);
    } else if (frame["type"] === "error") {
      for (const cid of this.#unsure) this.#answer(cid, frame);
    } else if (typeof frame["event"] === "string") {
      this.#receiver.signal(frame["event"], ...contentOf(frame as unknown as Envelope));
    }
  }

  #answer(cid: string, answer: LineAnswer): void {
    this.#answers.get(cid)?.(answer);
    this.#answers.delete(cid);
    this.#unsure.delete(cid);
  }

  /** Ends the line from this side. */
  #end(ending: Ending): void {
    this.#ended(ending);
    this.#socket.close();
  }

  #ended(ending: Ending): void {
    this.#silence.stop();
    this.#span.end(ending);
  }
}

/** Finds out whether the service is still there: it pings, but a page can't see pings. */
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

  /** Whether a probe waits for its answer. */
  get isProbed(): boolean {
    return this.#probing !== undefined;
  }

  /** If no answer comes in time, the line has ended. */
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
