// Lines over Socket.IO, whose client the application brings along: `socketIo(io)` with `io` of
// socket.io-client.
import { errorOf } from "../core.js";
import { addressOf } from "./platform.js";
import { changeTopics, contentOf, deviceReplaced, isFinalKind } from "./port.js";
import type { Command, Dial, Ending, Envelope, Line, Receiver, Transport } from "./port.js";
import { Span } from "./span.js";

/** The part of socket.io-client's `io` that is used. */
export type MakeSocketIo = (
  url: string,
  options: {
    path: string;
    transports: string[];
    auth: { [name: string]: unknown };
    forceNew: boolean;
    reconnection: boolean;
  },
) => SocketIo;

export interface SocketIo {
  /** Its connection below, there as soon as it is asked for. */
  readonly io: { readonly engine: { on(event: "close", listener: () => void): unknown } };
  on(event: "connect" | "disconnect", listener: () => void): unknown;
  on(event: "connect_error", listener: (error: Error) => void): unknown;
  onAny(listener: (event: string, envelope: unknown) => void): unknown;
  emit(event: string, ...given: unknown[]): unknown;
  disconnect(): unknown;
}

export function socketIo(io: MakeSocketIo): Transport {
  return { open: (dial, receiver) => new SocketIoLine(io, dial, receiver) };
}

class SocketIoLine implements Line {
  readonly #socket: SocketIo;
  readonly #receiver: Receiver;
  readonly #span: Span;

  constructor(io: MakeSocketIo, dial: Dial, receiver: Receiver) {
    this.#receiver = receiver;
    this.#span = new Span(receiver);
    this.#socket = openSocket(io, dial);
    this.#socket.on("connect", () => {
      this.#span.isOpen = true;
      receiver.opened();
    });
    this.#socket.on("connect_error", (error) => this.#refused(error));
    this.#socket.on("disconnect", () => this.#span.end({}));
    // If a service ends between the upgrade and its first word, the socket itself tells nothing for
    // 20 seconds.
    this.#socket.io.engine.on("close", () => {
      // The reason of a refusal follows right after its end.
      queueMicrotask(() => this.#end({}));
    });
    this.#socket.onAny((event, envelope) => this.#take(event, envelope));
  }

  acknowledge(upTo: string): void {
    if (this.#span.isOpen) this.#socket.emit("realtime.ack", { up_to: upTo }, () => undefined);
  }

  command({ name, payload, idempotencyKey }: Command): Promise<unknown> {
    const key = idempotencyKey === null ? {} : { idempotency_key: idempotencyKey };
    return this.#ask(name, payload, key);
  }

  setTopics(topics: readonly string[], before: readonly string[]): Promise<void> {
    return changeTopics(topics, before, (name, given) => this.#ask(name, { topics: given }));
  }

  async reauthenticate(token: string): Promise<boolean> {
    await this.#ask("realtime.reauth", { token });
    return true;
  }

  close(): void {
    this.#span.stop();
    this.#socket.disconnect();
  }

  #ask(event: string, ...given: unknown[]): Promise<unknown> {
    return this.#span.ask((take) => this.#socket.emit(event, ...given, take));
  }

  #take(event: string, envelope: unknown): void {
    if (this.#span.isOver) return;
    if (event === "realtime.error") {
      const { code, message } = errorOf((envelope as { readonly error?: unknown }).error);
      // This is a farewell. If something is wrong with a command, its answer tells.
      if (code === deviceReplaced) this.#end({ code, detail: message, isFinal: true });
      return;
    }
    this.#receiver.signal(event, ...contentOf(envelope as Envelope));
  }

  /** The error carries the service's envelope; a connection that did not come about has none. */
  #refused(error: Error): void {
    const { data } = error as { data?: { code?: string; kind?: string; detail?: string } };
    this.#socket.disconnect();
    if (data?.code === undefined) return this.#span.end({});
    const isFinal = isFinalKind(data.kind ?? "");
    this.#span.end({ code: data.code, detail: data.detail ?? error.message, isFinal });
  }

  /** Ends the line from this side. */
  #end(ending: Ending): void {
    this.#span.end(ending);
    this.#socket.disconnect();
  }
}

function openSocket(io: MakeSocketIo, dial: Dial): SocketIo {
  const { client, path, token, deviceId, topics, lastEventId, from } = dial;
  const url = addressOf(client.baseUrl, "");
  return io(url.origin, {
    path: `${url.pathname.replace(/\/$/, "")}${path}/socket.io`,
    transports: ["websocket"],
    auth: {
      protocol: 1,
      device_id: deviceId,
      topics,
      ...(token === null ? {} : { token }),
      ...(lastEventId === null ? {} : { last_event_id: lastEventId }),
      ...(from === undefined ? {} : { from }),
    },
    forceNew: true,
    // Coming back is the same over every transport.
    reconnection: false,
  });
}
