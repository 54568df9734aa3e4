// WebSocket: signals out, commands, acknowledgements and new credentials in (service.md "Duplex
// commands", RFC 6455).
import { planePaths } from "../../contract/realtime.js";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { toEnvelope, type ErrorCode, type ServiceError } from "../../contract/errors.js";
import { Flow } from "../../families/realtime/flow.js";
import { invalidFrame, readFrame } from "../../families/realtime/frames.js";
import { readHandshake } from "../../families/realtime/handshake.js";
import { checkRealtimeOrigin } from "../../families/realtime/origin.js";
import type { Connection } from "../../families/realtime/connection.js";
import { textFrame } from "../../ports/shared-frames.js";
import type { Signal } from "../../ports/signal.js";
import { pacedServer, type PacedWebSocket, type SocketTaker } from "./paced-websocket.js";
import { converse, type Conversation } from "./conversation.js";
import { closingMillis, maxFrameBytes, toldError, type RealtimeEndpoint } from "./endpoint.js";
import { parseQuery } from "../input/read-input.js";
import { parseStrictJson } from "../input/strict-json.js";
import { startTimer } from "../../ports/ambient.js";
import { Rounds } from "../../work/rounds.js";

const pingMillis = 25_000;

/** Close codes of RFC 6455 §7.4.1. */
const codes = { away: 1001, policy: 1008, unsupported: 1003, failed: 1011 };

export interface WebSocketEndpoint {
  /** Takes an upgrade that is this endpoint's; returns whether it was. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  stop(): void;
}

/** Answers upgrades of `<path>/ws`. */
export function webSocketEndpoint(options: RealtimeEndpoint): WebSocketEndpoint {
  const { limits, counters } = options;
  const server = pacedServer(
    {
      noServer: true,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
      handleProtocols: (protocols) => (protocols.has("realtime.v1") ? "realtime.v1" : false),
    },
    {
      ...limits,
      signOfLife: ["pong", Buffer.alloc(0)],
      onPaused: () => (counters.paused += 1),
    },
  );
  const address = options.spec.path + planePaths.websocket;
  const pings = new Rounds<WebSocketTalk>(pingMillis, (talk) => talk.ping());
  return {
    upgrade(req, socket, head) {
      const [asked = "", search = ""] = (req.url ?? "").split("?", 2);
      if (asked !== address) return false;
      server.handleUpgrade(req, socket, head, (webSocket) => {
        const talk = new WebSocketTalk(options, webSocket, socket, pings);
        webSocket.taker = talk;
        // Frames that come while the caller is being looked up wait in the socket.
        webSocket.hold(talk.begin(req, search).catch((error: unknown) => talk.fail(error)));
      });
      return true;
    },
    stop() {
      // This includes connections whose caller is still being looked up.
      for (const webSocket of server.clients) end(webSocket, codes.away, "the service goes away");
      server.close();
    },
  };
}

/**
 * The token of a browser, which cannot send an Authorization header: the subprotocol
 * `bearer.<token>`.
 */
function subprotocolToken(req: IncomingMessage): string | null {
  const offered = (req.headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  return offered.find((one) => one.startsWith("bearer."))?.slice("bearer.".length) ?? null;
}

/**
 * A caller who is still being looked up when the service stops gets the same code as those who were
 * admitted.
 */
function closeCodeOf({ code, status }: ServiceError): number {
  if (code === "service_draining") return codes.away;
  return status >= 500 ? codes.failed : codes.policy;
}

/**
 * The numbers of a refusal's context, such as the supported versions: a close has no room for more.
 */
function figures(context: Readonly<Record<string, unknown>>): string {
  const told = Object.entries(context).filter(([, value]) => typeof value === "number");
  return told.length === 0
    ? ""
    : ` (${told.map(([name, value]) => `${name} ${String(value)}`).join(", ")})`;
}

function end(webSocket: WebSocket, code: number, reason: string): void {
  webSocket.close(code, cut(reason, 123));
  startTimer(() => webSocket.terminate(), closingMillis).unref();
}

/** The bytes of refusals that are always the same. */
const refusalFrames = new WeakMap<ServiceError, Buffer>();

function refusalFrame(error: ServiceError): Buffer {
  const made = refusalFrames.get(error);
  if (made !== undefined) return made;
  const frame = textFrame(JSON.stringify({ type: "error", error: toEnvelope(error) }));
  refusalFrames.set(error, frame);
  return frame;
}

/** The text cut to so many bytes of UTF-8, between characters. */
export function cut(text: string, bytes: number): string {
  let result = "";
  let size = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    result += character;
  }
  return result;
}

/** One WebSocket, from its upgrade to its end. */
class WebSocketTalk extends Flow implements Connection, SocketTaker {
  readonly transport = "websocket";
  /** It is pinged. */
  readonly reconnect = null;
  readonly #options: RealtimeEndpoint;
  readonly #webSocket: PacedWebSocket;
  readonly #pings: Rounds<WebSocketTalk>;
  /** Its part of the round of pings; it is in none before it is admitted. */
  #part = -1;
  #isAlive = true;
  #conversation: Conversation | undefined;
  /** The ids of commands that have not been answered. */
  #open: Set<string | number> | undefined;

  constructor(
    options: RealtimeEndpoint,
    webSocket: PacedWebSocket,
    socket: Duplex,
    pings: Rounds<WebSocketTalk>,
  ) {
    super(socket);
    this.#options = options;
    this.#webSocket = webSocket;
    this.#pings = pings;
  }

  get hasEnded(): boolean {
    return this.#webSocket.readyState !== WebSocket.OPEN;
  }

  /** Begins the conversation of a caller. Throws the refusal. */
  async begin(req: IncomingMessage, search: string): Promise<void> {
    const options = this.#options;
    const { headers } = req;
    checkRealtimeOrigin(headers.origin, headers.host, options.allowedOrigins);
    const query = parseQuery(search);
    const handshake = readHandshake(query, undefined, options.credentials.parameters);
    const presented = { token: subprotocolToken(req), handshake: query };
    const conversation = await converse(options, req, presented, handshake, this);
    if (this.#webSocket.readyState === WebSocket.CLOSED) return conversation.end();
    this.#conversation = conversation;
    this.#part = this.#pings.enter(this);
    conversation.begin();
  }

  /** The handshake was accepted already, so a refusal is a close with its code and a reason. */
  fail(error: unknown): void {
    const known = toldError(this.#options.resources.log, error, "a connection failed");
    const { detail, context } = toEnvelope(known);
    end(this.#webSocket, closeCodeOf(known), `${known.code}: ${detail}${figures(context)}`);
  }

  /** A complete frame, written beside those of ws: the same bytes go to every connection. */
  write({ webSocketFrame }: Signal): void {
    this.#options.counters.signals.websocket.delivered += 1;
    this.send(webSocketFrame);
  }

  leave(): void {
    end(this.#webSocket, codes.away, "the service goes away");
  }

  refuse(code: ErrorCode): void {
    end(this.#webSocket, code === "core.internal" ? codes.failed : codes.policy, code);
  }

  /** Pings the other side; ends the connection if it has not answered the ping before. */
  ping(): void {
    if (!this.#isAlive) return this.#webSocket.terminate();
    this.#isAlive = false;
    this.#webSocket.ping();
  }

  pong(): void {
    this.#isAlive = true;
  }

  closing(): void {
    this.flush();
  }

  close(): void {
    this.#pings.leave(this, this.#part);
    this.#conversation?.end();
  }

  message(data: Buffer, isBinary: boolean): void {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    // Who does not read its answers is not read either.
    if (!this.isWritable() && !this.#webSocket.isHeld) this.#webSocket.hold(this.writable());
    if (isBinary) return end(this.#webSocket, codes.unsupported, "frames are JSON text");
    const frame = readFrame(data, parseStrictJson);
    switch (frame.type) {
      case "invalid":
        this.#options.counters.refused += 1;
        if (frame.cid === undefined) this.send(refusalFrame(frame.error));
        else this.#reply({ cid: frame.cid, error: toEnvelope(frame.error) });
        return;
      case "realtime.ack":
        conversation.acks.take(frame.upTo).catch((error: unknown) => conversation.told(error));
        return;
      case "realtime.reauth":
        return void this.#answer(conversation, frame.cid, async () => {
          await conversation.reauthenticate(frame.token);
          return { ok: true };
        });
      case "realtime.subscribe":
        return void this.#answer(conversation, frame.cid, async () => ({
          topics: await conversation.subscribe(frame.topics),
        }));
      case "realtime.unsubscribe":
        return void this.#answer(conversation, frame.cid, async () => ({
          topics: await conversation.unsubscribe(frame.topics),
        }));
      case "cmd":
        return void this.#answer(conversation, frame.cid, () => conversation.command(frame));
    }
  }

  /** Runs a frame's request and answers with its `cid`. */
  async #answer(
    conversation: Conversation,
    cid: string | number,
    work: () => Promise<unknown>,
  ): Promise<void> {
    const open = (this.#open ??= new Set());
    try {
      // Two answers with one cid could not be distinguished.
      if (open.has(cid)) throw invalidFrame("cid is in use");
      open.add(cid);
      const data = await work().finally(() => open.delete(cid));
      this.#reply({ cid, data });
    } catch (error) {
      this.#reply({ cid, error: toEnvelope(conversation.told(error)) });
    }
  }

  #reply(answer: object): void {
    this.send(textFrame(JSON.stringify({ type: "ack", ...answer })));
  }
}
