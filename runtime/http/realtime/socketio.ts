// Socket.IO: signals as events, commands with acknowledgement callbacks (service.md "Realtime wire
// protocol", decisions.md §2).
import { planePaths } from "../../contract/realtime.js";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Server, Socket } from "socket.io";
import type { ServerOptions } from "ws";
import { fail, toEnvelope, type ErrorCode } from "../../contract/errors.js";
import { Flow, type Queue } from "../../families/realtime/flow.js";
import {
  invalidFrame,
  readCommandOptions,
  readToken,
  readTopicNames,
  readUpTo,
} from "../../families/realtime/frames.js";
import { readAuth } from "../../families/realtime/handshake.js";
import { checkRealtimeOrigin } from "../../families/realtime/origin.js";
import type { Connection } from "../../families/realtime/connection.js";
import type { Signal } from "../../ports/signal.js";
import { nothingPresented } from "../boundary.js";
import { drainingError } from "../draining.js";
import { readMetadata } from "../input/metadata.js";
import { PacedWebSocket, pacedServer } from "./paced-websocket.js";
import { converse, type Conversation } from "./conversation.js";
import { closingMillis, maxFrameBytes, toldError, type RealtimeEndpoint } from "./endpoint.js";
import { replyError } from "../reply.js";
import { startTimer } from "../../ports/ambient.js";

/** Engine.IO's own, which is a message of WebSocket. */
const pong = Buffer.from("3");

export interface SocketIoEndpoint {
  /** Answers a request that is this endpoint's; returns whether it was. */
  answer(req: IncomingMessage, res: ServerResponse): boolean;
  /** Takes an upgrade that is this endpoint's; returns whether it was. Throws what refuses it. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  stop(): Promise<void>;
}

/** Answers `<path>/socket.io`, over WebSocket only: polling would bind a client to one process. */
export async function socketIoEndpoint(options: RealtimeEndpoint): Promise<SocketIoEndpoint> {
  const { Server } = await import("socket.io");
  const address = options.spec.path + planePaths.socketio;
  const { limits, counters } = options;
  /** Engine.IO creates its WebSocket server by `new`. */
  function PacedServer(given: ServerOptions) {
    return pacedServer(given, {
      ...limits,
      signOfLife: ["message", pong, false],
      onPaused: () => (counters.paused += 1),
    });
  }
  // It takes over the server that it is attached to, so it gets one that never listens.
  const io = new Server(createServer(), {
    path: address,
    addTrailingSlash: false,
    transports: ["websocket"],
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: maxFrameBytes,
    connectTimeout: 10_000,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    wsEngine: PacedServer,
  });
  const conversations = new WeakMap<Socket, Conversation>();
  const answered = new WeakMap<Socket, Promise<void>>();
  /** A connection is admitted once. */
  const conversed = new WeakSet<Socket["conn"]>();
  const enter = async (socket: Socket): Promise<Error | undefined> => {
    try {
      if (conversed.has(socket.conn)) throw fail("realtime_invalid_frame", { reason: "connected" });
      conversed.add(socket.conn);
      conversations.set(socket, await admit(options, socket));
      // What Socket.IO answers goes out before anything is delivered.
      const flushed = new Promise<void>((resolve) => socket.conn.once("flush", resolve));
      answered.set(socket, flushed);
      return undefined;
    } catch (error) {
      return refusal(options, error);
    }
  };
  io.use((socket, proceed) => void enter(socket).then(proceed));
  io.on("connection", (socket) => {
    const conversation = conversations.get(socket);
    if (conversation === undefined) return;
    // The underlying connection has no socket any more.
    socket.once("disconnect", () => end(socket));
    talk(socket, conversation);
    void answered.get(socket)?.then(() => conversation.begin());
  });
  const isMine = ({ url = "" }: IncomingMessage): boolean =>
    [address, `${address}/`].includes(url.split("?", 1)[0] ?? "");
  const check = ({ url = "", headers }: IncomingMessage, isUpgrade: boolean): void => {
    if (!options.isAccepting()) throw drainingError();
    checkRealtimeOrigin(headers.origin, headers.host, options.allowedOrigins);
    const query = new URLSearchParams(url.split("?")[1]);
    // A connection begins as a WebSocket and stays on it.
    if (!isUpgrade || query.has("sid") || query.get("transport") !== "websocket")
      throw fail("core.malformed", { reason: "Socket.IO is spoken over WebSocket here" });
    if (query.get("EIO") !== "4")
      throw fail("core.malformed", { reason: "Engine.IO is spoken in version 4 here" });
  };
  return {
    answer(req, res) {
      if (!isMine(req)) return false;
      try {
        check(req, false);
      } catch (error) {
        replyError(req, res, readMetadata(req.headers), error);
      }
      return true;
    },
    upgrade(req, socket, head) {
      if (!isMine(req)) return false;
      check(req, true);
      const upgrading = req as Parameters<Server["engine"]["handleUpgrade"]>[0];
      io.engine.handleUpgrade(upgrading, socket, head);
      return true;
    },
    async stop() {
      await io.close();
    },
  };
}

/**
 * The conversation of a socket that asks to connect; a refusal reaches the client as
 * `connect_error`.
 */
async function admit(options: RealtimeEndpoint, socket: Socket): Promise<Conversation> {
  const { conn, request } = socket;
  const auth: Readonly<Record<string, unknown>> = socket.handshake.auth;
  const token = auth["token"] === undefined ? null : readToken(auth);
  const webSocket = webSocketOf(request);
  const flow = new SocketIoTalk(options, socket);
  conn.on("packetCreate", ({ data }: { readonly data?: unknown }) => {
    flow.waiting += typeof data === "string" ? data.length : 0;
  });
  // Before Engine.IO's own listener for frames.
  conn.on("flush", () => {
    flow.waiting = 0;
    flow.flush();
    // Its writes of this tick are sent together, not one frame at a time.
    request.socket.cork();
    process.nextTick(() => request.socket.uncork());
  });
  conn.on("message", (data) => {
    // Frames are JSON text.
    if (typeof data !== "string") conn.close(true);
    // Who does not read its answers is not read either.
    if (!flow.isWritable() && !webSocket.isHeld) webSocket.hold(flow.writable());
  });
  const presented = { ...nothingPresented, token };
  const conversation = await converse(options, request, presented, readAuth(auth), flow);
  conn.once("close", () => conversation.end());
  if (flow.hasEnded) conversation.end();
  return conversation;
}

/** One socket of Socket.IO, from its admission to its end. */
class SocketIoTalk extends Flow implements Connection {
  readonly transport = "socketio";
  /** It is pinged. */
  readonly reconnect = null;
  readonly #options: RealtimeEndpoint;
  readonly #socket: Socket;
  /** Characters of what Engine.IO has not sent yet. */
  waiting = 0;
  protected override readonly queue: Queue;

  constructor(options: RealtimeEndpoint, socket: Socket) {
    super(socket.request.socket);
    this.#options = options;
    this.#socket = socket;
    this.queue = { emitter: socket.conn, bytes: () => this.waiting };
  }

  get hasEnded(): boolean {
    return this.#socket.conn.readyState !== "open";
  }

  /** A complete frame, written beside those of Engine.IO: the same bytes go to every connection. */
  write({ socketIoFrame }: Signal): void {
    this.#options.counters.signals.socketio.delivered += 1;
    this.send(socketIoFrame);
  }

  leave(): void {
    end(this.#socket);
  }

  refuse(code: ErrorCode): void {
    // After a disconnect packet its client doesn't reconnect: two clients with one device would
    // replace each other forever.
    const isReplaced = code === "realtime_device_replaced" && this.#socket.connected;
    if (isReplaced) farewell(this.#socket, code);
    end(this.#socket);
  }
}

/**
 * Ends the underlying connection, so that the client comes back and is admitted elsewhere, or
 * refused.
 */
function end({ conn, request }: Socket): void {
  conn.close();
  startTimer(() => request.socket.destroy(), closingMillis).unref();
}

/** The WebSocket of a connection, which Engine.IO stores on its request. */
function webSocketOf(request: IncomingMessage): PacedWebSocket {
  if ("websocket" in request && request.websocket instanceof PacedWebSocket)
    return request.websocket;
  throw new Error("Engine.IO keeps its WebSocket elsewhere");
}

function farewell(socket: Socket, code: ErrorCode): void {
  socket.emit("realtime.error", { type: "error", error: toEnvelope(fail(code)) });
  socket.disconnect();
}

function refusal({ resources }: RealtimeEndpoint, error: unknown): Error {
  const envelope = toEnvelope(toldError(resources.log, error, "a connection failed"));
  return Object.assign(new Error(`${envelope.code}: ${envelope.detail}`), { data: envelope });
}

/**
 * Takes what the client emits: frames of the protocol with their argument, and commands as `event,
 * payload, options?`.
 */
function talk(socket: Socket, conversation: Conversation): void {
  const take = async (event: string, args: readonly unknown[]): Promise<object> => {
    const [first, second] = args;
    switch (event) {
      case "realtime.ack":
        return { acked: await conversation.acks.take(readUpTo(first)) };
      case "realtime.reauth":
        await conversation.reauthenticate(readToken(first));
        return { ok: true };
      case "realtime.subscribe":
        return { topics: await conversation.subscribe(readTopicNames(first)) };
      case "realtime.unsubscribe":
        return { topics: await conversation.unsubscribe(readTopicNames(first)) };
      default: {
        if (args.length > 2) throw invalidFrame("a command has a payload and options");
        const command = { event, payload: first, ...readCommandOptions(second) };
        return { data: await conversation.command(command) };
      }
    }
  };
  socket.onAny((event: string, ...given: readonly unknown[]) => {
    const last = given.at(-1);
    const reply = typeof last === "function" ? (last as (answer: object) => void) : null;
    take(event, reply === null ? given : given.slice(0, -1)).then(
      (answer) => reply?.(answer),
      (error: unknown) => {
        const answer = { error: toEnvelope(conversation.told(error)) };
        if (reply === null) socket.emit("realtime.error", { type: "error", ...answer });
        else reply(answer);
      },
    );
  });
}
