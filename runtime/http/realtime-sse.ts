// Server-Sent Events: a stream of signals, and the route that acknowledges them (service.md "Realtime endpoints", WHATWG HTML §9.2).
import type { IncomingMessage, ServerResponse } from "node:http";
import { fail } from "../contract/errors.js";
import { acknowledge } from "../realtime/acknowledge.js";
import { flowOf } from "../realtime/flow.js";
import { readDevice, readHandshake } from "../realtime/handshake.js";
import { checkRealtimeOrigin } from "../realtime/origin.js";
import type { Connection } from "../realtime/plane.js";
import type { Signal } from "../realtime/signal.js";
import { draining } from "./draining.js";
import { readMetadata } from "./metadata.js";
import { readJsonBody } from "./read-body.js";
import { parseQuery } from "./read-input.js";
import { boundCaller, type RealtimeEndpoint } from "./realtime-endpoint.js";
import { replyError, sendJson } from "./reply.js";
import { methodNotAllowed } from "./route-table.js";
import { securityHeaderList } from "./security-headers.js";

const keepaliveMillis = 15_000;
const maxAckBytes = 4 * 1024;

/** Answers `<path>/sse` and `<path>/sse/ack`; returns whether it did. */
export function sseEndpoint(
  options: RealtimeEndpoint,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const { path } = options.spec;
  return (req, res) => {
    const [asked = "", search = ""] = (req.url ?? "").split("?", 2);
    const isStream = asked === `${path}/sse`;
    if (!isStream && asked !== `${path}/sse/ack`) return false;
    const method = isStream ? "GET" : "POST";
    const work = async (): Promise<void> => {
      if (!options.isAccepting()) throw draining();
      if (req.method !== method) throw methodNotAllowed([method]);
      const query = parseQuery(search);
      if (isStream) await stream(options, req, res, query);
      else await ack(options, req, res, query);
    };
    work().catch((error: unknown) => replyError(req, res, readMetadata(req.headers), error));
    return true;
  };
}

async function stream(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  res: ServerResponse,
  query: ReadonlyMap<string, string>,
): Promise<void> {
  const { headers } = req;
  checkRealtimeOrigin(headers.origin, headers.host, options.allowedOrigins);
  const lastEventId = headers["last-event-id"];
  const handshake = readHandshake(
    query,
    typeof lastEventId === "string" && lastEventId !== "" ? lastEventId : undefined,
  );
  const { identity, context } = await boundCaller(options, req);
  const flow = flowOf(res);
  const connection: Connection = {
    get hasEnded() {
      return res.destroyed || res.writableEnded;
    },
    isWritable: flow.isWritable,
    writable: flow.writable,
    write(signal: Signal) {
      flow.together();
      res.write(signal.sseFrame);
    },
    leave() {
      // A spread of reconnects, so that they do not come all at once.
      res.end(`retry: ${1_000 + Math.floor(Math.random() * 7_000)}\n\n`);
    },
    refuse: () => void res.end(),
  };
  const isGood = () => options.isGood(req, identity);
  const admitted = await options.plane.connect({
    context,
    identity,
    handshake,
    connection,
    isGood,
  });
  const timer = setInterval(() => res.write(": keepalive\n\n"), keepaliveMillis);
  const expiry = endAt(identity.expiresAt, () => connection.refuse("core.authentication"));
  const release = (): void => {
    clearInterval(timer);
    expiry();
    admitted.end();
  };
  res.once("close", release);
  if (res.destroyed) {
    release();
    return;
  }
  res.writeHead(200, [
    "Content-Type",
    "text/event-stream; charset=utf-8",
    "Cache-Control",
    "no-store, no-transform",
    "X-Accel-Buffering",
    "no",
    "X-Request-ID",
    context.metadata.requestId,
    ...securityHeaderList,
  ]);
  req.socket.setNoDelay(true);
  res.write("retry: 2000\n: connected\n\n");
  admitted.begin();
}

async function ack(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  res: ServerResponse,
  query: ReadonlyMap<string, string>,
): Promise<void> {
  const { headers } = req;
  checkRealtimeOrigin(headers.origin, headers.host, options.allowedOrigins);
  const device = readDevice(query.get("device_id"));
  const { identity, context } = await boundCaller(options, req);
  const upTo = readUpTo(await readJsonBody(req, maxAckBytes));
  const owner = options.plane.ownerOf(context, identity);
  const acked = await acknowledge(context.resources.database, owner, device, upTo);
  const common = ["X-Request-ID", context.metadata.requestId, "Cache-Control", "no-store"];
  sendJson(req, res, 200, [...common, ...securityHeaderList], JSON.stringify({ acked }));
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

/** Calls `end` at a time; returns how to take that back. Timers beyond 24 days would fire at once. */
export function endAt(expiresAt: number | null, end: () => void): () => void {
  if (expiresAt === null) return () => undefined;
  const timer = setTimeout(end, Math.min(Math.max(0, expiresAt - Date.now()), 0x7fff_ffff));
  timer.unref();
  return () => clearTimeout(timer);
}
