// Lines over Server-Sent Events: signals as a stream (WHATWG HTML §9.2), acknowledgements and commands as requests beside it.
import { ApiError, authorize, call, currentCaller, errorOf, retryAfterMillis } from "../core.js";
import type { Operation } from "../core.js";
import { callerOf } from "../token.js";
import { lineAddress } from "./platform.js";
import { isFinalKind, type Dial, type Ending, type Line } from "./port.js";
import type { Receiver, Transport } from "./port.js";

/** The service says something every 15 s. */
const silenceMillis = 45_000;

/** Server-Sent Events through `fetch`, which unlike `EventSource` can send a token along. */
export function sse(): Transport {
  return { open };
}

function open(dial: Dial, receiver: Receiver): Line {
  const { client, path, deviceId, commands, token } = dial;
  const leaving = new AbortController();
  const acknowledgement: Operation = {
    method: "POST",
    path: `${path}/sse/ack`,
    query: ["device_id"],
    body: "rest",
    repeats: "safe",
  };
  listen(dial, receiver, leaving).then(
    (ending) => !leaving.signal.aborted && receiver.ended(ending),
    () => !leaving.signal.aborted && receiver.ended({}),
  );
  return {
    acknowledge(upTo) {
      const input = { device_id: deviceId, up_to: upTo };
      // A later acknowledgement stands for one that got lost.
      void call(client, acknowledgement, input).settled();
    },
    async command({ name, payload, idempotencyKey, signal, millis }) {
      const operation = commands[name];
      if (operation === undefined)
        throw new ApiError("realtime_command_unknown", `there is no command ${name}`);
      // A line has one caller; a request would go as whoever is signed in now.
      if ((await currentCaller(client)) !== callerOf(token ?? ""))
        throw new ApiError("client.aborted", "another caller signed in");
      const options = {
        signal,
        timeoutMillis: millis,
        ...(idempotencyKey === null ? {} : { idempotencyKey }),
      };
      return call(client, operation, payload, options);
    },
    reauthenticate: async () => false,
    close: () => leaving.abort(),
  };
}

/** Reads a stream to its end. */
async function listen(dial: Dial, receiver: Receiver, leaving: AbortController): Promise<Ending> {
  const { client, token } = dial;
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), silenceMillis);
  const headers = new Headers(client.headers);
  headers.set("accept", "text/event-stream");
  if (token !== null) authorize(client, headers, { access_token: token });
  try {
    const response = await (client.fetch ?? fetch)(lineAddress(dial, "sse"), {
      headers,
      signal: AbortSignal.any([leaving.signal, silence.signal]),
    });
    if (!response.ok || response.body === null) return await refusal(response);
    receiver.opened();
    const parser = new FrameParser();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMillis);
      for (const { event, data } of parser.push(value)) {
        const { id, data: payload } = JSON.parse(data) as { id: string | null; data: unknown };
        if (!leaving.signal.aborted) receiver.signal(event, id, payload);
      }
    }
    return parser.retryMillis === undefined ? {} : { afterMillis: parser.retryMillis };
  } finally {
    clearTimeout(timer);
  }
}

async function refusal(response: Response): Promise<Ending> {
  const { code, kind, message } = errorOf(await response.json().catch(() => ({})), response);
  const afterMillis = retryAfterMillis(response);
  return {
    code,
    detail: message,
    isFinal: response.status < 500 && response.status !== 429 && isFinalKind(kind),
    ...(afterMillis === undefined ? {} : { afterMillis }),
  };
}

/** Frames of a stream that comes in pieces. */
class FrameParser {
  /** What the service asked for last, where that was not its greeting. */
  retryMillis: number | undefined;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #frames = 0;

  push(piece: string): { readonly event: string; readonly data: string }[] {
    const frames: { readonly event: string; readonly data: string }[] = [];
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, field, value = ""] = /^([a-z]+):? ?(.*?)\r?$/s.exec(line) ?? [];
      if (field === "event") this.#event = value;
      else if (field === "data") this.#data.push(value);
      else if (field === "retry" && (this.#frames += 1) > 1) this.retryMillis = Number(value);
      else if (line === "" || line === "\r") {
        if (this.#data.length > 0) frames.push({ event: this.#event, data: this.#data.join("\n") });
        this.#event = "";
        this.#data = [];
      }
    }
    return frames;
  }
}
