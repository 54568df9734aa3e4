// Lines over Server-Sent Events: signals as a stream (WHATWG HTML §9.2), acknowledgements and
// commands as requests beside it.
import { ApiError, authorize, call, errorOf, retryAfterMillis } from "../core.js";
import type { CallOptions, Operation } from "../core.js";
import { followSignal } from "../signals.js";
import { EventStream } from "./event-stream.js";
import { handOver, Recent, type Stream } from "./handover.js";
import { lineAddress } from "./platform.js";
import { contentOf, deviceReplaced, isFinalKind, type Command, type Dial } from "./port.js";
import type { Ending, Envelope, Line, Receiver, Transport } from "./port.js";

const eventStream = "text/event-stream";
/** The service says something every 15 s. */
const silenceMillis = 45_000;

/** The service ends streams without a sign of life: behind a proxy it can't see their client. */
const signMillis = 20_000;
/** No id of any signal: it acknowledges nothing. */
const noId = "-";

/** Server-Sent Events through `fetch`, which unlike `EventSource` can send a token along. */
export function sse(): Transport {
  return { open: (dial, receiver) => new SseLine(dial, receiver) };
}

/**
 * A line whose stream makes place for another where something else is to be heard, or by another
 * token.
 */
class SseLine implements Line {
  readonly #leaving = new AbortController();
  readonly #recent = new Recent();
  readonly #receiver: Receiver;
  #dial: Dial;
  #stream: Stream;
  #signedAt = Date.now();
  /** The last handover: there is one at a time. */
  #handover: Promise<unknown> = Promise.resolve();

  constructor(dial: Dial, receiver: Receiver) {
    this.#dial = dial;
    this.#receiver = {
      opened: () => receiver.opened(),
      signal: (...signal) => {
        const [, id] = signal;
        if (id !== null) this.#dial = { ...this.#dial, lastEventId: id };
        this.#recent.add(signal);
        receiver.signal(...signal);
      },
      ended: (ending) => receiver.ended(ending),
    };
    this.#stream = this.#open(dial, this.#receiver);
  }

  acknowledge(upTo: string): void {
    const { client, path, deviceId, caller } = this.#dial;
    const acknowledgement: Operation = {
      method: "POST",
      path: `${path}/sse/ack`,
      query: ["device_id"],
      body: "rest",
      repeats: "safe",
    };
    this.#signedAt = Date.now();
    // A later acknowledgement stands for one that got lost.
    void call(
      client,
      acknowledgement,
      { device_id: deviceId, up_to: upTo },
      ofLine(caller),
    ).settled();
  }

  async command({ name, payload, idempotencyKey, signal, millis }: Command): Promise<unknown> {
    const { client, commands, caller } = this.#dial;
    const operation = commands[name];
    if (operation === undefined)
      throw new ApiError("realtime_command_unknown", `there is no command ${name}`);
    const options = {
      signal,
      ...ofLine(caller),
      timeoutMillis: millis,
      ...(idempotencyKey === null ? {} : { idempotencyKey }),
    };
    return call(client, operation, payload, options);
  }

  setTopics(topics: readonly string[]): Promise<void> {
    return this.#goOn({ topics });
  }

  reauthenticate(token: string): Promise<boolean> {
    return this.#goOn({ token }).then(
      () => true,
      () => false,
    );
  }

  close(): void {
    this.#leaving.abort();
  }

  /** Goes on over another stream. Rejects if that is refused; then this one goes on. */
  #goOn(change: Partial<Pick<Dial, "topics" | "token">>): Promise<void> {
    const done = this.#handover.then(async () => {
      const dial = { ...this.#dial, ...change };
      const open = (receiver: Receiver): Stream => this.#open(dial, receiver);
      this.#stream = await handOver(this.#stream, {
        open,
        receiver: this.#receiver,
        recent: this.#recent,
        leaving: this.#leaving.signal,
      });
      this.#dial = { ...this.#dial, ...change };
    });
    this.#handover = done.catch(() => undefined);
    return done;
  }

  #open(dial: Dial, receiver: Receiver): Stream {
    const leaving = followSignal(this.#leaving.signal);
    const stream: Stream = { receiver, close: () => leaving.abort() };
    // On each event, because timers of a hidden page may rest.
    const hears = (): void => {
      if (Date.now() - this.#signedAt > signMillis) this.acknowledge(noId);
    };
    listen(dial, stream, leaving, hears).then(
      (ending) => !leaving.signal.aborted && stream.receiver.ended(ending),
      () => !leaving.signal.aborted && stream.receiver.ended({}),
    );
    return stream;
  }
}

/** A line has one caller; a request would go as whoever is signed in now. */
function ofLine(caller: string | null): Pick<CallOptions, "caller"> {
  return caller === null ? {} : { caller };
}

/** Reads a stream to its end; `hears` is told of whatever comes. */
async function listen(
  dial: Dial,
  stream: Stream,
  leaving: AbortController,
  hears: () => void,
): Promise<Ending> {
  const { client, token } = dial;
  const silence = followSignal(leaving.signal);
  let timer = setTimeout(() => silence.abort(), silenceMillis);
  const headers = new Headers(client.headers);
  headers.set("accept", eventStream);
  if (token !== null) authorize(client, headers, { access_token: token });
  try {
    const response = await (client.fetch ?? fetch)(lineAddress(dial, "sse"), {
      headers,
      signal: silence.signal,
    });
    if (!response.ok || response.body === null) return await refusal(response);
    // A page that stands in for the service says what it is.
    const type = response.headers.get("content-type") ?? eventStream;
    if (!type.startsWith(eventStream)) return {};
    stream.receiver.opened();
    const parser = new EventStream();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMillis);
      if (!leaving.signal.aborted) hears();
      for (const { event, data } of parser.push(value)) {
        if (event === "realtime.error") return farewell(data);
        const envelope = JSON.parse(data) as Envelope;
        if (!leaving.signal.aborted) stream.receiver.signal(event, ...contentOf(envelope));
      }
    }
    return parser.retryMillis === undefined ? {} : { afterMillis: parser.retryMillis };
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function farewell(data: string): Ending {
  const { code, message } = errorOf((JSON.parse(data) as { readonly error?: unknown }).error);
  return { code, detail: message, isFinal: code === deviceReplaced };
}

async function refusal(response: Response): Promise<Ending> {
  const { code, kind, message } = errorOf(await response.json().catch(() => ({})), response);
  const afterMillis = retryAfterMillis(response);
  return {
    code,
    detail: message,
    // What has no code of the service comes from a proxy, and passes.
    isFinal:
      code !== "client.unreadable" &&
      response.status < 500 &&
      response.status !== 429 &&
      isFinalKind(kind),
    ...(afterMillis === undefined ? {} : { afterMillis }),
  };
}
