// Lines over WebSocket: signals, acknowledgements and commands as frames of JSON (service.md "Realtime wire protocol").
import { ApiError, errorOf } from "../core.js";
import { lineAddress, platform, type Socket } from "./platform.js";
import { isFinalKind, type Dial, type Ending, type Line } from "./port.js";
import type { Receiver, Transport } from "./port.js";

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
/** A line that has said nothing for so long is probed: the service pings, but no page can see that. */
const silenceMillis = 45_000;

export function webSocket(make: MakeSocket = ofPlatform): Transport {
  return { open: (dial, receiver) => open(make, dial, receiver) };
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

function open(make: MakeSocket, dial: Dial, receiver: Receiver): Line {
  const { token } = dial;
  // A browser cannot send an Authorization header along.
  const socket = make(addressTo(dial), [
    "realtime.v1",
    ...(token === null ? [] : [`bearer.${token}`]),
  ]);
  const waiting = new Map<string, Waiting>();
  let asked = 0;
  let [isOpen, isOver] = [false, false];
  const ask = (type: string, members: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const cid = String((asked += 1));
      const frame = JSON.stringify({ type, cid, ...members });
      if (new TextEncoder().encode(frame).length > maxFrameBytes)
        return reject(new ApiError("client.too_large", `a frame has ${maxFrameBytes} bytes`));
      if (!isOpen) return reject(new ApiError("client.network", "the connection has ended"));
      waiting.set(cid, { resolve, reject });
      socket.send(frame);
    });
  let latest = token;
  const reauthenticate = (next: string): Promise<unknown> => {
    latest = next;
    return ask("realtime.reauth", { auth: { token: next } });
  };
  /** The other side answers in time, or the line has ended. */
  const patience = (): ReturnType<typeof setTimeout> =>
    setTimeout(() => {
      end({});
      socket.close();
    }, patienceMillis);
  const admission = patience();
  let probing: ReturnType<typeof setTimeout> | undefined;
  const probe = (): void => {
    if (!isOpen || latest === null || probing !== undefined) return;
    probing = patience();
    // Any answer will do.
    reauthenticate(latest).catch(() => undefined);
  };
  let silence = setTimeout(probe, silenceMillis);
  const hears = (): void => {
    clearTimeout(probing);
    probing = undefined;
    clearTimeout(silence);
    silence = setTimeout(probe, silenceMillis);
  };
  const end = (ending: Ending, isTold = true): void => {
    if (isOver) return;
    [isOpen, isOver] = [false, true];
    for (const timer of [admission, probing, silence]) clearTimeout(timer);
    for (const { reject } of waiting.values())
      reject(new ApiError("client.network", "the connection ended before the answer"));
    if (isTold) receiver.ended(ending);
  };

  socket.addEventListener("open", () => {
    isOpen = true;
    // The socket is open before the caller is admitted: the first answer tells.
    if (token === null) {
      clearTimeout(admission);
      return receiver.opened();
    }
    reauthenticate(token).then(
      () => {
        clearTimeout(admission);
        receiver.opened();
      },
      ({ code, kind, message }: ApiError) => {
        // Before the close that follows, which says less.
        end({ code, detail: message, isFinal: isFinalKind(kind) });
        socket.close();
      },
    );
  });
  socket.addEventListener("message", ({ data }) => {
    if (isOver) return;
    hears();
    const frame = JSON.parse(String(data)) as Readonly<Record<string, unknown>>;
    if (frame["type"] === "ack") {
      const answered = waiting.get(String(frame["cid"]));
      waiting.delete(String(frame["cid"]));
      if (frame["error"] === undefined) answered?.resolve(frame["data"]);
      else answered?.reject(errorOf(frame["error"]));
    } else if (typeof frame["event"] === "string") {
      receiver.signal(frame["event"], frame["id"] as string | null, frame["data"]);
    }
  });
  // What failed is told by the close that follows.
  socket.addEventListener("error", () => undefined);
  socket.addEventListener("close", ({ code, reason }) => end(endingOf(code, reason)));

  return {
    acknowledge(upTo) {
      if (isOpen) socket.send(JSON.stringify({ type: "realtime.ack", up_to: upTo }));
    },
    command: ({ name, payload, idempotencyKey }) =>
      ask("cmd", {
        event: name,
        payload,
        ...(idempotencyKey === null ? {} : { idempotency_key: idempotencyKey }),
      }),
    async reauthenticate(next) {
      await reauthenticate(next);
      return true;
    },
    probe,
    close() {
      end({}, false);
      socket.close();
    },
  };
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
