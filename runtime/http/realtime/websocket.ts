// WebSocket: signals out, commands, acknowledgements and new credentials in (service.md "Duplex
// commands", RFC 6455).
import { planePaths } from "../../contract/realtime.js";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { toEnvelope, type ServiceError } from "../../contract/errors.js";
import { flowOf, type Flow } from "../../families/realtime/flow.js";
import { invalidFrame, readFrame } from "../../families/realtime/frames.js";
import { readHandshake } from "../../families/realtime/handshake.js";
import { checkRealtimeOrigin } from "../../families/realtime/origin.js";
import type { Connection } from "../../families/realtime/admission.js";
import type { SignalCounters } from "../../families/realtime/limits.js";
import { textFrame } from "../../ports/shared-frames.js";
import type { Signal } from "../../ports/signal.js";
import { pacedServer, type PacedWebSocket } from "./paced-websocket.js";
import { converse, type Conversation } from "./conversation.js";
import { closingMillis, maxFrameBytes, toldError, type RealtimeEndpoint } from "./endpoint.js";
import { parseQuery } from "../input/read-input.js";
import { parseStrictJson } from "../input/strict-json.js";
import { startInterval, startTimer } from "../../ports/ambient.js";

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
  return {
    upgrade(req, socket, head) {
      const [asked = "", search = ""] = (req.url ?? "").split("?", 2);
      if (asked !== address) return false;
      server.handleUpgrade(req, socket, head, (webSocket) => {
        webSocket.on("error", () => undefined);
        const admission = talk(options, req, socket, webSocket, search).then(
          (receive) => webSocket.on("message", receive),
          (error: unknown) => refuse(options, webSocket, error),
        );
        // Frames that come while the caller is being looked up wait in the socket.
        webSocket.hold(admission);
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

/** The handshake was accepted already, so a refusal is a close with its code and a reason. */
function refuse({ resources }: RealtimeEndpoint, webSocket: WebSocket, error: unknown): void {
  const known = toldError(resources.log, error, "a connection failed");
  const { detail, context } = toEnvelope(known);
  end(webSocket, closeCodeOf(known), `${known.code}: ${detail}${figures(context)}`);
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

/** Begins a conversation; resolves with what takes its frames. */
async function talk(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  socket: Duplex,
  webSocket: PacedWebSocket,
  search: string,
): Promise<(data: Buffer, isBinary: boolean) => void> {
  const { headers } = req;
  checkRealtimeOrigin(headers.origin, headers.host, options.allowedOrigins);
  const query = parseQuery(search);
  const handshake = readHandshake(query, undefined, options.credentialParameters);
  const flow = flowOf(socket, () => webSocket.readyState !== WebSocket.OPEN);
  const connection = connectionOver(webSocket, flow, options.counters.signals.websocket);
  // Frames that wait for the end of this tick are sent before a close.
  webSocket.on("closing", flow.flush);
  const conversation = await converse(
    options,
    req,
    { token: subprotocolToken(req), handshake: query },
    () => handshake,
    connection,
  );
  const pinging = pingUntilClosed(webSocket);
  const release = (): void => {
    clearInterval(pinging);
    conversation.end();
  };
  webSocket.once("close", release);
  if (webSocket.readyState === WebSocket.CLOSED) release();
  conversation.begin();

  const send = (frame: object): void => flow.send(textFrame(JSON.stringify(frame)));
  const answer = answers(conversation, send);
  return (data, isBinary) => {
    // Who does not read its answers is not read either.
    if (!flow.isWritable() && !webSocket.isHeld) webSocket.hold(flow.writable());
    if (isBinary) {
      end(webSocket, codes.unsupported, "frames are JSON text");
      return;
    }
    const frame = readFrame(data, parseStrictJson);
    switch (frame.type) {
      case "invalid":
        options.counters.refused += 1;
        if (frame.cid === undefined) flow.send(refusalFrame(frame.error));
        else send({ type: "ack", cid: frame.cid, error: toEnvelope(frame.error) });
        return;
      case "realtime.ack":
        conversation.acks.take(frame.upTo).catch(conversation.told);
        return;
      case "realtime.reauth":
        void answer(frame.cid, async () => {
          await conversation.reauthenticate(frame.token);
          return { ok: true };
        });
        return;
      case "realtime.subscribe":
        void answer(frame.cid, async () => ({
          topics: await conversation.subscribe(frame.topics),
        }));
        return;
      case "realtime.unsubscribe":
        void answer(frame.cid, async () => ({
          topics: await conversation.unsubscribe(frame.topics),
        }));
        return;
      case "cmd":
        void answer(frame.cid, () => conversation.command(frame));
    }
  };
}

/** The connection as the realtime plane sees it. */
function connectionOver(
  webSocket: PacedWebSocket,
  flow: Flow,
  counters: SignalCounters,
): Connection {
  return {
    transport: "websocket",
    get hasEnded() {
      return webSocket.readyState !== WebSocket.OPEN;
    },
    isWritable: flow.isWritable,
    writable: flow.writable,
    flush: flow.flush,
    // A complete frame, written beside those of ws: the same bytes go to every connection.
    write({ webSocketFrame }: Signal) {
      counters.delivered += 1;
      flow.send(webSocketFrame);
    },
    leave: () => end(webSocket, codes.away, "the service goes away"),
    refuse: (code) => end(webSocket, code === "core.internal" ? codes.failed : codes.policy, code),
    // It is pinged.
    reconnect: null,
  };
}

/** Pings the other side, and ends the connection if a ping wasn't answered before the next one. */
function pingUntilClosed(webSocket: PacedWebSocket): NodeJS.Timeout {
  let isAlive = true;
  webSocket.on("pong", () => (isAlive = true));
  return startInterval(() => {
    if (!isAlive) return webSocket.terminate();
    isAlive = false;
    webSocket.ping();
  }, pingMillis);
}

/** Runs a frame's request and answers with its `cid`. */
function answers(
  conversation: Conversation,
  send: (frame: object) => void,
): (cid: string | number, work: () => Promise<unknown>) => Promise<void> {
  const open = new Set<string | number>();
  return async (cid, work) => {
    try {
      // Two answers with one cid could not be distinguished.
      if (open.has(cid)) throw invalidFrame("cid is in use");
      open.add(cid);
      const data = await work().finally(() => open.delete(cid));
      send({ type: "ack", cid, data });
    } catch (error) {
      send({ type: "ack", cid, error: toEnvelope(conversation.told(error)) });
    }
  };
}
