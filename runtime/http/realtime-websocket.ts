// WebSocket: signals out, commands, acknowledgements and new credentials in (service.md "Duplex commands", RFC 6455).
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { fail, ServiceError, toEnvelope } from "../contract/errors.js";
import { ExecutionContext } from "../operations/context.js";
import type { Identity } from "../operations/identity.js";
import { outputValue } from "../operations/json-text.js";
import { Lifetime } from "../operations/lifetime.js";
import type { Operation } from "../operations/operation.js";
import { invoke } from "../operations/pipeline.js";
import { acknowledgements } from "../realtime/acknowledge.js";
import { flowOf } from "../realtime/flow.js";
import { readFrame, type CommandFrame } from "../realtime/frames.js";
import { readHandshake } from "../realtime/handshake.js";
import { checkRealtimeOrigin } from "../realtime/origin.js";
import type { Connection } from "../realtime/plane.js";
import type { Signal } from "../realtime/signal.js";
import { readMetadata } from "./metadata.js";
import { boundCaller, type RealtimeEndpoint } from "./realtime-endpoint.js";
import { endAt } from "./realtime-sse.js";
import { parseQuery } from "./read-input.js";

const maxFrameBytes = 64 * 1024;
const maxInFlight = 16;
const pingMillis = 25_000;
/** A close that the other side does not answer is an end after so many milliseconds. */
const closingMillis = 5_000;

/** Close codes of RFC 6455 §7.4.1. */
const codes = { restart: 1012, policy: 1008, unsupported: 1003, failed: 1011 };

export interface WebSocketEndpoint {
  /** Takes an upgrade that is this endpoint's; returns whether it was. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  stop(): void;
}

/** Answers upgrades of `<path>/ws`. */
export function webSocketEndpoint(options: RealtimeEndpoint): WebSocketEndpoint {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    handleProtocols: (protocols) => (protocols.has("realtime.v1") ? "realtime.v1" : false),
  });
  const address = `${options.spec.path}/ws`;
  return {
    upgrade(req, socket, head) {
      const [asked = "", search = ""] = (req.url ?? "").split("?", 2);
      if (asked !== address) return false;
      withSubprotocolToken(req);
      server.handleUpgrade(req, socket, head, (webSocket) => {
        // A frame that comes while the caller is being looked up is kept.
        const early: { readonly data: Buffer; readonly isBinary: boolean }[] = [];
        const keep = (data: Buffer, isBinary: boolean): void => void early.push({ data, isBinary });
        webSocket.on("message", keep);
        webSocket.on("error", () => undefined);
        converse(options, req, socket, webSocket, search).then(
          (receive) => {
            webSocket.off("message", keep);
            if (receive === null) return;
            for (const { data, isBinary } of early) receive(data, isBinary);
            webSocket.on("message", receive);
          },
          (error: unknown) => refuse(options, webSocket, error),
        );
      });
      return true;
    },
    stop() {
      // Those among them whose caller is still being looked up, too.
      for (const webSocket of server.clients) end(webSocket, codes.restart, "the service restarts");
      server.close();
    },
  };
}

/** A browser cannot send an Authorization header; a subprotocol `bearer.<token>` stands for it. */
function withSubprotocolToken(req: IncomingMessage): void {
  if (req.headers.authorization !== undefined) return;
  const offered = (req.headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  const token = offered.find((one) => one.startsWith("bearer."))?.slice("bearer.".length);
  if (token !== undefined) req.headers.authorization = `Bearer ${token}`;
}

/** The handshake has been accepted already: a refusal is a close with its code and what it means. */
function refuse({ resources }: RealtimeEndpoint, webSocket: WebSocket, error: unknown): void {
  const known = error instanceof ServiceError ? error : fail("core.internal", {}, { cause: error });
  if (known.status >= 500 && known.code !== "service_draining")
    resources.log.error({ err: error }, "a connection failed");
  const code = known.status >= 500 ? codes.failed : codes.policy;
  end(webSocket, code, `${known.code}: ${toEnvelope(known).detail}`);
}

function end(webSocket: WebSocket, code: number, reason: string): void {
  webSocket.close(code, cut(reason, 123));
  setTimeout(() => webSocket.terminate(), closingMillis).unref();
}

/** As many bytes of UTF-8, cut between characters. */
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

/** Begins a conversation; resolves with what takes its frames, or null where it has ended meanwhile. */
async function converse(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  socket: Duplex,
  webSocket: WebSocket,
  search: string,
): Promise<((data: Buffer, isBinary: boolean) => void) | null> {
  const { headers } = req;
  checkRealtimeOrigin(headers.origin, headers.host, options.allowedOrigins);
  const handshake = readHandshake(parseQuery(search), undefined);
  let { identity, context } = await boundCaller(options, req);
  const flow = flowOf(socket);
  const isOpen = (): boolean => webSocket.readyState === WebSocket.OPEN;
  const connection: Connection = {
    get hasEnded() {
      return !isOpen();
    },
    isWritable: flow.isWritable,
    writable: flow.writable,
    write(signal: Signal) {
      flow.together();
      webSocket.send(signal.webSocketFrame);
    },
    leave: () => end(webSocket, codes.restart, "the service restarts"),
    refuse: (code) => end(webSocket, code === "core.internal" ? codes.failed : codes.policy, code),
  };
  let credential = req;
  const isGood = () => options.isGood(credential, identity);
  const admitted = await options.plane.connect({
    context,
    identity,
    handshake,
    connection,
    isGood,
  });
  const expired = (): void => connection.refuse("core.authentication");
  let expiry = endAt(identity.expiresAt, expired);
  let isAlive = true;
  webSocket.on("pong", () => (isAlive = true));
  const pinging = setInterval(() => {
    if (!isAlive) return webSocket.terminate();
    isAlive = false;
    webSocket.ping();
  }, pingMillis);
  const release = (): void => {
    clearInterval(pinging);
    expiry();
    admitted.end();
  };
  webSocket.once("close", release);
  if (!isOpen()) {
    release();
    return null;
  }
  admitted.begin();

  const send = (frame: object): void => {
    if (isOpen()) webSocket.send(JSON.stringify(frame));
  };
  let inFlight = 0;
  const owner = options.plane.ownerOf(context, identity);
  // A command begins behind the acknowledgements that came before it.
  const acks = acknowledgements(options.resources, owner, handshake.device);

  const command = async (frame: CommandFrame): Promise<void> => {
    await acks.done();
    const { commands } = options.spec;
    const operation = Object.hasOwn(commands, frame.event) ? commands[frame.event] : undefined;
    if (operation === undefined) throw fail("realtime_invalid_frame", { reason: "unknown event" });
    const within = commandContext(options, operation, frame, identity, context, isOpen);
    const { output } = await invoke(operation, checkedPayload(operation, frame.payload), within);
    send({ type: "ack", cid: frame.cid, data: output === undefined ? null : outputValue(output) });
  };

  const reauthenticate = async (token: string): Promise<void> => {
    const next = Object.assign(Object.create(req) as IncomingMessage, {
      headers: { ...req.headers, authorization: `Bearer ${token}` },
    });
    const bound = await boundCaller(options, next);
    const isSame =
      bound.identity.principalId === identity.principalId &&
      bound.context.tenant === context.tenant;
    if (!isSame) throw fail("core.authentication");
    credential = next;
    ({ identity, context } = bound);
    expiry();
    expiry = endAt(identity.expiresAt, expired);
  };

  return (data, isBinary) => {
    if (isBinary) {
      end(webSocket, codes.unsupported, "frames are JSON text");
      return;
    }
    const frame = readFrame(data);
    const failed = (cid: unknown) => (error: unknown) => {
      const known =
        error instanceof ServiceError ? error : fail("core.internal", {}, { cause: error });
      if (known.status >= 500) options.resources.log.error({ err: error }, "a command failed");
      send({ type: "ack", cid: cid ?? null, error: toEnvelope(known) });
    };
    switch (frame.type) {
      case "invalid":
        if (frame.cid === undefined) send({ type: "error", error: toEnvelope(frame.error) });
        else failed(frame.cid)(frame.error);
        return;
      case "ack":
        acks.take(frame.upTo);
        return;
      case "reauth":
        // Outside the bound of commands: a client at its limit must still be able to stay.
        reauthenticate(frame.token).then(
          () => send({ type: "ack", cid: frame.cid ?? null, data: { ok: true } }),
          failed(frame.cid),
        );
        return;
      case "cmd":
        if (inFlight >= maxInFlight) {
          failed(frame.cid)(fail("realtime_commands_limit"));
          return;
        }
        inFlight += 1;
        command(frame)
          .catch(failed(frame.cid))
          .finally(() => (inFlight -= 1));
    }
  };
}

/** The context of one command: its own key and deadline, the connection's caller. */
function commandContext(
  { resources }: RealtimeEndpoint,
  // oxlint-disable-next-line typescript/no-explicit-any -- input and result are tied together inside each operation
  operation: Operation<any, any>,
  frame: CommandFrame,
  identity: Identity,
  { tenant, metadata }: ExecutionContext,
  isOpen: () => boolean,
): ExecutionContext {
  const seconds = Math.min(
    operation.deadlineSeconds ?? Infinity,
    frame.deadlineSeconds ?? Infinity,
  );
  const deadline = seconds === Infinity ? Infinity : Date.now() + seconds * 1000;
  return new ExecutionContext(resources, {
    operationId: operation.operationId,
    metadata: { ...readMetadata({}), correlationId: metadata.correlationId },
    tenant,
    idempotencyKey: operation.idempotencyKey === true ? frame.idempotencyKey : undefined,
    lifetime: new Lifetime(deadline, { isGone: () => !isOpen() }),
    identity,
  });
}

/** The payload, proven as the operation's input. Throws `core.validation`. */
// oxlint-disable-next-line typescript/no-explicit-any -- input and result are tied together inside each operation
function checkedPayload({ input }: Operation<any, any>, payload: unknown): unknown {
  const { body } = input;
  const validate =
    input.validate ??
    (body?.check !== undefined && "validate" in body.check ? body.check.validate : undefined);
  const faults = validate?.(payload) ?? null;
  if (faults !== null) throw fail("core.validation", { errors: faults });
  return payload;
}
