// Clients of the realtime plane: what people really use, behind one shape.
import { EventSource } from "eventsource";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import type { Member } from "./people.js";

export interface Heard {
  readonly event: string;
  readonly id: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
  readonly data: any;
}

/** What a command is answered with. */
export interface CommandAnswer {
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly [more: string]: unknown };
}

/** One connection, whatever carries it. */
export interface Client {
  readonly heard: Heard[];
  /** Who joined and left topics. */
  readonly presence: Heard[];
  /** Acknowledges everything up to an id; resolves once that is stored. */
  ack(id: string): Promise<void>;
  /** Reads nothing for so many milliseconds. */
  lag(millis: number): void;
  close(): void;
  /** Whether the service has ended it. */
  hasEnded(): boolean;
}

/** One that can also talk. */
export interface DuplexClient extends Client {
  command(
    event: string,
    payload: unknown,
    options?: { readonly idempotency_key?: unknown; readonly deadline_budget?: unknown },
  ): Promise<CommandAnswer>;
  reauthenticate(token: string): Promise<CommandAnswer>;
  /** Hears topics as well, or no longer; the answer has all that are heard then. */
  topics(change: "subscribe" | "unsubscribe", topics: unknown): Promise<CommandAnswer>;
}

export function isDuplex(client: Client): client is DuplexClient {
  return "reauthenticate" in client;
}

export interface ConnectOptions {
  readonly device?: string;
  readonly topics?: readonly string[];
  readonly lastEventId?: string;
  readonly from?: string;
}

export type Connect<One extends Client = Client> = (
  service: { readonly url: string },
  who: Pick<Member, "token">,
  options?: ConnectOptions,
) => Promise<One>;

export const eventNames = [
  "task.assigned",
  "task.changed",
  "task.typing",
  "realtime.gap",
  "realtime.unsubscribed",
  "realtime.removed",
  "realtime.presence",
  "realtime.joined",
  "realtime.left",
];

/** What a client hears, sorted into signals and presence. */
export function hearing() {
  const [heard, presence]: [Heard[], Heard[]] = [[], []];
  const isPresence = (event: string): boolean => /^realtime\.(?:presence|joined|left)$/.test(event);
  return {
    heard,
    presence,
    hear: (one: Heard) => void (isPresence(one.event) ? presence : heard).push(one),
  };
}

/** The query of a connection. */
export function queryOf(
  { device, topics, lastEventId, from }: ConnectOptions,
  withId = false,
): string {
  const query = new URLSearchParams({
    ...(device === undefined ? {} : { device_id: device }),
    ...(topics === undefined ? {} : { topics: topics.join(",") }),
    ...(from === undefined ? {} : { from }),
    ...(withId && lastEventId !== undefined ? { last_event_id: lastEventId } : {}),
  });
  return query.size === 0 ? "" : `?${query}`;
}

/** The `eventsource` package, which acknowledges by `fetch`. */
export const connectSse: Connect = async (service, who, options = {}) => {
  const { heard, presence, hear } = hearing();
  let ended = false;
  const authorization = `Bearer ${who.token}`;
  let until = 0;
  const source = new EventSource(`${service.url}/realtime/sse${queryOf(options)}`, {
    fetch: async (url, init) => {
      const resume =
        options.lastEventId === undefined ? {} : { "Last-Event-ID": options.lastEventId };
      const headers = { ...init.headers, ...resume, authorization };
      const answer = await fetch(url, { ...init, headers });
      const lagging = new TransformStream<Uint8Array, Uint8Array>({
        async transform(chunk, stream) {
          await new Promise((resolve) => setTimeout(resolve, Math.max(0, until - Date.now())));
          stream.enqueue(chunk);
        },
      });
      return new Response(answer.body?.pipeThrough(lagging) ?? null, answer);
    },
  });
  for (const name of eventNames)
    source.addEventListener(name, ({ data }) => {
      hear({ event: name, ...(JSON.parse(data) as Omit<Heard, "event">) });
    });
  await new Promise<void>((resolve, reject) => {
    source.addEventListener("open", () => resolve());
    source.addEventListener("error", (error) => {
      ended = true;
      source.close();
      reject(new Error(`${error.code}: ${error.message}`));
    });
  });
  return {
    heard,
    presence,
    async ack(id) {
      const device = options.device === undefined ? "" : `?device_id=${options.device}`;
      const answer = await fetch(`${service.url}/realtime/sse/ack${device}`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ up_to: id }),
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    lag(millis) {
      until = Date.now() + millis;
    },
    close: () => source.close(),
    hasEnded: () => ended,
  };
};

/** A WebSocket of the `ws` package that has been opened, perhaps not admitted. */
export async function openSocket(
  service: { readonly url: string },
  who: Pick<Member, "token">,
  query = "",
) {
  const { heard, presence, hear } = hearing();
  let closed: { readonly code: number; readonly reason: string } | undefined;
  const address = `${service.url.replace("http", "ws")}/realtime/ws${query}`;
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${who.token}` } });
  socket.on("message", (text: Buffer) => {
    const frame = JSON.parse(text.toString()) as Heard;
    if ("event" in frame) hear(frame);
  });
  socket.on("close", (code, reason) => {
    closed = { code, reason: reason.toString() };
  });
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("open", resolve));
  return { socket, heard, presence, hasEnded: () => closed !== undefined, closed: () => closed };
}

let cids = 0;

/** Sends a frame with a new `cid`; resolves with its acknowledgement. */
export function ask(
  socket: WebSocket,
  frame: { readonly [member: string]: unknown },
): Promise<Record<string, unknown>> {
  const cid = `c${(cids += 1)}`;
  return new Promise((resolve) => {
    const listen = (text: Buffer): void => {
      const answer = JSON.parse(text.toString()) as Record<string, unknown>;
      if (answer["cid"] !== cid) return;
      socket.off("message", listen);
      resolve(answer);
    };
    socket.on("message", listen);
    socket.send(JSON.stringify({ type: "cmd", cid, ...frame }));
  });
}

/** The `ws` package. */
export const connectWebSocket: Connect<DuplexClient> = async (service, who, options = {}) => {
  const { socket, heard, presence, hasEnded } = await openSocket(
    service,
    who,
    queryOf(options, true),
  );
  // A socket is open before it is admitted; what is answered is.
  await new Promise<void>((resolve, reject) => {
    socket.once("close", (code, reason) => reject(new Error(`${code}: ${reason.toString()}`)));
    void ask(socket, { event: "nothing" }).then(() => resolve());
  });
  return {
    heard,
    presence,
    async ack(id) {
      socket.send(JSON.stringify({ type: "realtime.ack", up_to: id }));
      // An ack has no answer; a command behind it has one.
      await ask(socket, { event: "nothing" });
    },
    command: (event, payload, frame = {}) => ask(socket, { event, payload, ...frame }),
    reauthenticate: (token) => ask(socket, { type: "realtime.reauth", auth: { token } }),
    topics: (change, topics) => ask(socket, { type: `realtime.${change}`, topics }),
    lag(millis) {
      socket.pause();
      setTimeout(() => socket.resume(), millis);
    },
    close: () => socket.close(),
    hasEnded,
  };
};

/** Socket.IO's own client. */
export const connectSocketIo: Connect<DuplexClient> = async (service, who, options = {}) => {
  const { device, topics, lastEventId, from } = options;
  const socket = io(service.url, {
    path: "/realtime/socket.io",
    transports: ["websocket"],
    forceNew: true,
    reconnection: false,
    auth: {
      token: who.token,
      ...(device === undefined ? {} : { device_id: device }),
      ...(topics === undefined ? {} : { topics }),
      ...(lastEventId === undefined ? {} : { last_event_id: lastEventId }),
      ...(from === undefined ? {} : { from }),
    },
  });
  const { heard, presence, hear } = hearing();
  let ended = false;
  socket.onAny((event: string, envelope: Omit<Heard, "event">, ...more: unknown[]) => {
    if (more.length > 0) throw new Error("an event has more than its envelope");
    hear({ event, ...envelope });
  });
  socket.on("disconnect", () => {
    ended = true;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("connect_error", reject);
  });
  const emit = (event: string, ...args: readonly unknown[]): Promise<CommandAnswer> =>
    socket.emitWithAck(event, ...args) as Promise<CommandAnswer>;
  return {
    heard,
    presence,
    async ack(id) {
      await emit("realtime.ack", { up_to: id });
    },
    command: (event, payload, frame) =>
      frame === undefined ? emit(event, payload) : emit(event, payload, frame),
    async reauthenticate(token) {
      const { error, ...data } = await emit("realtime.reauth", { token });
      return error === undefined ? { data } : { error };
    },
    async topics(change, topics) {
      const { error, ...data } = await emit(`realtime.${change}`, { topics });
      return error === undefined ? { data } : { error };
    },
    lag(millis) {
      // The connection that its transport has in Node.
      const { ws } = socket.io.engine.transport as unknown as { readonly ws: WebSocket };
      ws.pause();
      setTimeout(() => ws.resume(), millis);
    },
    close: () => void socket.disconnect(),
    hasEnded: () => ended,
  };
};
