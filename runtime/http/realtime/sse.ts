// Server-Sent Events: a stream of signals, and the route that acknowledges them (service.md
// "Realtime endpoints", WHATWG HTML §9.2).
import { planePaths } from "../../contract/realtime.js";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { fail, toEnvelope, type ErrorCode } from "../../contract/errors.js";
import { acknowledge } from "../../families/realtime/acknowledge.js";
import type { ExecutionContext } from "../../operations/context.js";
import { Flow } from "../../families/realtime/flow.js";
import { checkTopics, readHandshake } from "../../families/realtime/handshake.js";
import { checkRealtimeOrigin } from "../../families/realtime/origin.js";
import type { Connection } from "../../families/realtime/connection.js";
import { mailboxOf } from "../../ports/mailbox.js";
import type { Signal } from "../../ports/signal.js";
import { nothingPresented } from "../boundary.js";
import { readJsonBody } from "../input/read-body.js";
import { converse, type Conversation } from "./conversation.js";
import { boundCaller, closingMillis, realtimeRoute, type RealtimeEndpoint } from "./endpoint.js";
import { commonHeaders, sendJson } from "../reply.js";
import { drawFraction, startTimer } from "../../ports/ambient.js";
import { Rounds } from "../../work/rounds.js";

const keepaliveMillis = 15_000;
/**
 * How long an `EventSource` stays away if its device has connected again, so that two with one
 * device don't fight all the time.
 */
const replacedMillis = 15_000;
const maxAckBytes = 4 * 1024;

/** Answers `<path>/sse` and `<path>/sse/ack`; returns whether it did. */
export function sseEndpoint(
  options: RealtimeEndpoint,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const path = options.spec.path + planePaths.sse;
  const rounds = new Rounds<SseStream>(keepaliveMillis, (one) => one.keepAlive());
  const answerStream = realtimeRoute(options, path, "GET", (...request) =>
    stream(options, ...request, rounds),
  );
  const answerAck = realtimeRoute(
    options,
    options.spec.path + planePaths.acknowledge,
    "POST",
    (...request) => ack(options, ...request),
  );
  return (req, res) => answerStream(req, res) || answerAck(req, res);
}

async function stream(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  res: ServerResponse,
  query: ReadonlyMap<string, string>,
  rounds: Rounds<SseStream>,
): Promise<void> {
  const { headers } = req;
  checkRealtimeOrigin(headers.origin, headers.host, options.allowedOrigins);
  // An earlier request of the connection is still being answered, and this stream would wait for
  // it.
  if (res.socket === null) throw fail("http_malformed");
  const lastEventId = headers["last-event-id"];
  const handshake = readHandshake(
    query,
    typeof lastEventId === "string" && lastEventId !== "" ? lastEventId : undefined,
  );
  if (req.method === "HEAD") {
    // The headers of a stream, for a caller who may have one.
    const { context } = await boundCaller(options, req);
    await checkTopics(options.spec, handshake.topics, context);
    res.writeHead(200, streamHeaders(context));
    res.end();
    return;
  }
  const talk = new SseStream(options, req, res, rounds);
  const conversation = await converse(options, req, nothingPresented, handshake, talk);
  talk.begin(conversation);
}

/** One stream, from its admission to its end. */
class SseStream extends Flow implements Connection {
  readonly transport = "sse";
  readonly #options: RealtimeEndpoint;
  readonly #res: ServerResponse;
  readonly #socket: Socket;
  readonly #rounds: Rounds<SseStream>;
  /** HTTP/1.0 knows no chunks. */
  readonly #isChunked: boolean;
  /** Why it ended before it began. */
  #early: ErrorCode | null = null;

  constructor(
    options: RealtimeEndpoint,
    { socket, httpVersion }: IncomingMessage,
    res: ServerResponse,
    rounds: Rounds<SseStream>,
  ) {
    super(socket);
    this.#options = options;
    this.#res = res;
    this.#socket = socket;
    this.#rounds = rounds;
    this.#isChunked = httpVersion === "1.1";
  }

  get hasEnded(): boolean {
    return this.#res.destroyed || this.#res.writableEnded;
  }

  /** Answers with the stream. Throws why it has ended before. */
  begin(conversation: Conversation): void {
    const res = this.#res;
    if (this.#early !== null) {
      conversation.end();
      throw fail(this.#early);
    }
    res.on("error", () => undefined);
    if (res.destroyed) return conversation.end();
    const part = this.#rounds.enter(this);
    res.once("close", () => {
      this.#rounds.leave(this, part);
      conversation.end();
    });
    res.writeHead(200, streamHeaders(conversation));
    this.#socket.setNoDelay(true);
    res.write("retry: 2000\n: connected\n\n");
    conversation.begin();
  }

  /** A complete chunk, written beside those of Node: the same bytes go to every connection. */
  write(signal: Signal): void {
    this.#options.counters.signals.sse.delivered += 1;
    this.send(this.#isChunked ? signal.sseChunk : Buffer.from(signal.sse));
  }

  keepAlive(): void {
    this.flush();
    if (!this.hasEnded) this.#res.write(": keepalive\n\n");
  }

  /** Its client reconnects at a random time, so that they don't all come at once. */
  leave(): void {
    this.#end(retryIn(1_000, 8_000), "service_draining");
  }

  refuse(code: ErrorCode): void {
    this.#end(lastWords(code), code);
  }

  /** Its client reconnects at once, before its principal counts as gone. */
  reconnect(): void {
    this.#end(retryIn(300, 1_000), "core.unavailable");
  }

  #end(last: string, code: ErrorCode): void {
    const [res, socket] = [this.#res, this.#socket];
    if (!res.headersSent) {
      this.#early = code;
      return;
    }
    this.flush();
    res.end(last);
    // The connection serves other requests once this was sent.
    const patience = startTimer(() => socket.destroy(), closingMillis).unref();
    res.once("close", () => clearTimeout(patience));
  }
}

function streamHeaders({ metadata }: Pick<ExecutionContext, "metadata">): string[] {
  return [
    "Content-Type",
    "text/event-stream; charset=utf-8",
    "Cache-Control",
    "no-store, no-transform",
    "X-Accel-Buffering",
    "no",
    ...commonHeaders(metadata),
  ];
}

/**
 * Makes an `EventSource` reconnect after about so many milliseconds; random, so that many don't all
 * come at once.
 */
function retryIn(least: number, most = least): string {
  return `retry: ${least + Math.floor(drawFraction() * (most - least))}\n\n`;
}

/** What is sent before a refused stream ends. */
function lastWords(code: ErrorCode): string {
  return code === "realtime_device_replaced" ? retryIn(replacedMillis) + printError(code) : "";
}

function printError(code: ErrorCode): string {
  const error = JSON.stringify({ type: "error", error: toEnvelope(fail(code)) });
  return `event: realtime.error\ndata: ${error}\n\n`;
}

async function ack(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  res: ServerResponse,
  query: ReadonlyMap<string, string>,
): Promise<void> {
  const { headers } = req;
  checkRealtimeOrigin(headers.origin, headers.host, options.allowedOrigins);
  const { named: device } = readHandshake(query, undefined);
  const { identity, context } = await boundCaller(options, req);
  const upTo = await readJsonBody(req, maxAckBytes, readUpTo);
  const owner = mailboxOf(context, identity);
  if (device !== null) options.plane.sign(owner, device);
  const acked = await acknowledge(context.resources, owner, device, upTo);
  const common = [...commonHeaders(context.metadata), "Cache-Control", "no-store"];
  sendJson(req, res, 200, common, JSON.stringify({ acked }));
}

/** `up_to` of a body that has nothing else. Throws `core.validation`. */
function readUpTo(body: unknown): string {
  const given = typeof body === "object" && body !== null ? body : {};
  const [[name, value] = ["", undefined], ...others] = Object.entries(given);
  if (name === "up_to" && typeof value === "string" && value !== "" && others.length === 0)
    return value;
  const message = "must be a text that is not empty, and nothing else";
  throw fail("core.validation", { errors: [{ path: "/up_to", keyword: "type", message }] });
}
