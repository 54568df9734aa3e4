// Lines over Socket.IO, whose client the application brings along: `socketIo(io)` with `io` of socket.io-client.
import { ApiError, errorOf } from "../core.js";
import { addressOf } from "./platform.js";
import { deviceReplaced, isFinalKind, type Command, type Dial } from "./port.js";
import type { Ending, Line, Receiver, Transport } from "./port.js";

/** What is used of socket.io-client's `io`. */
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
  /** Refuses those who wait for an answer. */
  readonly #waiting = new Set<(error: ApiError) => void>();
  #isOpen = false;
  #isOver = false;

  constructor(io: MakeSocketIo, dial: Dial, receiver: Receiver) {
    this.#receiver = receiver;
    this.#socket = connected(io, dial);
    this.#socket.on("connect", () => {
      this.#isOpen = true;
      receiver.opened();
    });
    this.#socket.on("connect_error", (error) => this.#refused(error));
    this.#socket.on("disconnect", () => this.#told({}));
    // If a service ends between the upgrade and its first word, the socket itself tells nothing for 20 seconds.
    this.#socket.io.engine.on("close", () => {
      // What a refusal says comes right behind its end.
      queueMicrotask(() => this.#end({}));
    });
    this.#socket.onAny((event, envelope) => this.#take(event, envelope));
  }

  acknowledge(upTo: string): void {
    if (this.#isOpen) this.#socket.emit("realtime.ack", { up_to: upTo }, () => undefined);
  }

  command({ name, payload, idempotencyKey }: Command): Promise<unknown> {
    const key = idempotencyKey === null ? {} : { idempotency_key: idempotencyKey };
    return this.#ask(name, payload, key);
  }

  async reauthenticate(token: string): Promise<boolean> {
    await this.#ask("realtime.reauth", { token });
    return true;
  }

  close(): void {
    this.#stop();
    this.#socket.disconnect();
  }

  #ask(event: string, ...given: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.#isOpen) return reject(new ApiError("client.network", "the connection has ended"));
      this.#waiting.add(reject);
      this.#socket.emit(event, ...given, (answer: { data?: unknown; error?: unknown }) => {
        this.#waiting.delete(reject);
        if (answer.error === undefined) resolve(answer.data);
        else reject(errorOf(answer.error));
      });
    });
  }

  #take(event: string, envelope: unknown): void {
    if (this.#isOver) return;
    if (event === "realtime.error") {
      const { code, message } = errorOf((envelope as { readonly error?: unknown }).error);
      // This is a farewell. If something is wrong with a command, its answer tells.
      if (code === deviceReplaced) this.#end({ code, detail: message, isFinal: true });
      return;
    }
    const { id, data } = envelope as { id: string | null; data: unknown };
    this.#receiver.signal(event, id, data);
  }

  /** The error carries the service's envelope; a connection that did not come about has none. */
  #refused(error: Error): void {
    const { data } = error as { data?: { code?: string; kind?: string; detail?: string } };
    this.#socket.disconnect();
    if (data?.code === undefined) return this.#told({});
    const isFinal = isFinalKind(data.kind ?? "");
    this.#told({ code: data.code, detail: data.detail ?? error.message, isFinal });
  }

  /** Ends the line, from this side. */
  #end(ending: Ending): void {
    this.#told(ending);
    this.#socket.disconnect();
  }

  #told(ending: Ending): void {
    if (this.#stop()) this.#receiver.ended(ending);
  }

  /** Whether this was the end: there is only one. */
  #stop(): boolean {
    if (this.#isOver) return false;
    [this.#isOpen, this.#isOver] = [false, true];
    for (const reject of this.#waiting)
      reject(new ApiError("client.network", "the connection ended before the answer"));
    return true;
  }
}

function connected(io: MakeSocketIo, dial: Dial): SocketIo {
  const { client, path, token, deviceId, topics, lastEventId } = dial;
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
    },
    forceNew: true,
    // Coming back is the same over every transport.
    reconnection: false,
  });
}
