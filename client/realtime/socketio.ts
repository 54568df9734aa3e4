// Lines over Socket.IO, whose client the application brings along: `socketIo(io)` with `io` of socket.io-client.
import { ApiError, errorOf } from "../core.js";
import { addressOf } from "./platform.js";
import { deviceReplaced, isFinalKind, type Dial, type Ending, type Line } from "./port.js";
import type { Receiver, Transport } from "./port.js";

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
  return { open: (dial, receiver) => open(io, dial, receiver) };
}

function open(io: MakeSocketIo, dial: Dial, receiver: Receiver): Line {
  const { client, path, token, deviceId, topics, lastEventId } = dial;
  const url = addressOf(client.baseUrl, "");
  const socket = io(url.origin, {
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
  const waiting = new Set<(error: ApiError) => void>();
  let [isOpen, isOver] = [false, false];
  const end = (ending: Ending, isTold = true): void => {
    if (isOver) return;
    [isOpen, isOver] = [false, true];
    for (const reject of waiting)
      reject(new ApiError("client.network", "the connection ended before the answer"));
    if (isTold) receiver.ended(ending);
  };
  const ask = (event: string, ...given: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (!isOpen) return reject(new ApiError("client.network", "the connection has ended"));
      waiting.add(reject);
      socket.emit(event, ...given, (answer: { data?: unknown; error?: unknown }) => {
        waiting.delete(reject);
        if (answer.error === undefined) resolve(answer.data);
        else reject(errorOf(answer.error));
      });
    });

  socket.on("connect", () => {
    isOpen = true;
    receiver.opened();
  });
  socket.on("connect_error", (error) => {
    // The service's envelope; a connection that did not come about has none.
    const { data } = error as { data?: { code?: string; kind?: string; detail?: string } };
    socket.disconnect();
    if (data?.code === undefined) return end({});
    const isFinal = isFinalKind(data.kind ?? "");
    end({ code: data.code, detail: data.detail ?? error.message, isFinal });
  });
  socket.on("disconnect", () => end({}));
  // Of a service that ends between the upgrade and its first word, `socket` tells nothing for 20 seconds.
  socket.io.engine.on("close", () => {
    // What a refusal says comes right behind its end.
    queueMicrotask(() => {
      socket.disconnect();
      end({});
    });
  });
  socket.onAny((event, envelope) => {
    if (isOver) return;
    if (event === "realtime.error") {
      const { code, message } = errorOf((envelope as { readonly error?: unknown }).error);
      // A farewell: what is wrong with a command is told by its answer.
      if (code !== deviceReplaced) return;
      end({ code, detail: message, isFinal: true });
      socket.disconnect();
      return;
    }
    const { id, data } = envelope as { id: string | null; data: unknown };
    receiver.signal(event, id, data);
  });

  return {
    acknowledge(upTo) {
      if (isOpen) socket.emit("realtime.ack", { up_to: upTo }, () => undefined);
    },
    command: ({ name, payload, idempotencyKey }) =>
      ask(name, payload, idempotencyKey === null ? {} : { idempotency_key: idempotencyKey }),
    async reauthenticate(next) {
      await ask("realtime.reauth", { token: next });
      return true;
    },
    close() {
      end({}, false);
      socket.disconnect();
    },
  };
}
