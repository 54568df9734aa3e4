// Starting and stopping a service: engines, migrations, listener, readiness, drain (decisions.md §3).
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fail, knownError } from "../contract/errors.js";
import { boundary } from "../http/boundary.js";
import { answerClientErrors, refuse } from "../http/client-error.js";
import { frontHandler, type RequestHandler } from "../http/front-handler.js";
import { corsHandler } from "../http/cors.js";
import { draining } from "../http/draining.js";
import { directEndpoint } from "../http/direct-endpoint.js";
import { checkHost } from "../http/host.js";
import { readMetadata } from "../http/metadata.js";
import { hasBody } from "../http/read-body.js";
import { replyError } from "../http/reply.js";
import type { Database } from "../operations/database.js";
import { startRelay, type Relay } from "../outbox/relay.js";
import type { Log } from "../operations/log.js";
import { connect, defaultTenant, type Connection, type ConnectOptions } from "./connect.js";
import { destinationsOf } from "./destinations.js";
import { startRealtime } from "./realtime.js";
import { startReaper } from "./reaper.js";
import type { ServiceDefinition } from "./service.js";
import type { Settings } from "./settings.js";
import { systemEndpoints } from "./system-endpoints.js";

/** A service that answers requests. */
export interface RunningService {
  /** `http://host:port`, with the port that was really taken. */
  readonly url: string;
  /** The database and keys that it works with. */
  readonly connection: Connection;
  /** Drains and stops: not ready, settle, close listeners, finish requests, close engines. Idempotent. */
  stop(): Promise<void>;
}

/** Starts a service; resolves once it listens and its database is migrated. */
export async function start(
  service: ServiceDefinition,
  options: ConnectOptions,
): Promise<RunningService> {
  const { settings, folder, log } = options;
  const connection = await connect(service, options);
  const { database, keys } = connection;
  const { identity } = service;
  const { trustsProxy, corsOrigins } = settings;
  const relay = startOutbox(service, connection, settings);

  let state: "active" | "settling" | "draining" = "active";
  const isAccepting = (): boolean => state !== "draining";
  const bind = boundary({
    identity,
    resources: connection,
    trustsProxy,
    allowedOrigins: corsOrigins,
  });
  const realtime = await startRealtime(service, connection, settings, {
    bind,
    allowedOrigins: corsOrigins,
    isAccepting,
  });
  const router = frontHandler({
    routes: service.routes,
    resources: connection,
    trustsProxy,
    bind,
    maxBodyBytes: settings.maxBodyBytes,
    defaultTenant,
    isAccepting,
  });
  const answerSystem = systemEndpoints({
    folder,
    hasRealtime: service.realtime !== undefined,
    isReady: async () => state === "active" && (await answers(database)),
    jwks: identity?.jwks ?? null,
    publicKeys: keys.tokens.publicKeys,
  });
  const { objects } = connection;
  const answerDirect =
    objects.direct === null ? () => false : directEndpoint({ ...objects.direct, isAccepting });
  const cors = await corsHandler(corsOrigins);
  const answerDocs = settings.hasDocs ? await docsOf(service, folder) : () => false;
  const fallback = appFallback(service, log, answerDocs);
  const server = createServer(
    // Node would refuse a missing Host without a body; checkHost does it with the envelope.
    {
      // Bodies have timeouts of their own: an upload may take as long as its bytes keep coming.
      requestTimeout: 0,
      headersTimeout: 15_000,
      keepAliveTimeout: 65_000,
      requireHostHeader: false,
    },
    (req, res) => {
      try {
        checkHost(req);
      } catch (error) {
        replyError(req, res, readMetadata(req.headers), error);
        return;
      }
      cors(req, res, () => {
        if (answerSystem(req, res) || answerDirect(req, res)) return;
        if (realtime?.answer(req, res) === true) return;
        router(req, res, (error) => fallback(req, res, error));
      });
    },
  );
  answerClientErrors(server);
  server.on("upgrade", (req, socket: Socket, head) => {
    // Node has taken its own listener away: a caller who resets must not end the process.
    socket.on("error", () => socket.destroy());
    if (req.headers.upgrade?.toLowerCase() !== "websocket" && !hasBody(req)) {
      answerWithoutUpgrade(server, req, socket);
      return;
    }
    try {
      if (!isAccepting()) throw draining();
      if (realtime?.upgrade(req, socket, head) !== true) throw fail("route_not_found");
    } catch (error) {
      refuse(socket, knownError(error));
    }
  });
  const unused = connectionsWithoutRequest(server);
  await listen(server, settings);
  const reaper = startReaper(service, connection);

  let stopped: Promise<void> | undefined;
  const { address, port, family } = server.address() as AddressInfo;
  const url = `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  objects.listensAt(url);
  return {
    url,
    connection,
    stop: () =>
      (stopped ??= (async () => {
        reaper.stop();
        state = "settling";
        await sleep(settings.settleSeconds * 1000);
        state = "draining";
        await Promise.all([realtime?.stop(), closed(server, unused, settings.drainSeconds * 1000)]);
        await relay?.stop(settings.drainSeconds * 1000);
        const patience = sleep(settings.drainSeconds * 1000 + 100, undefined, { ref: false });
        await Promise.race([connection.close(), patience]);
      })()),
  };
}

/** Answers a request as if it had not asked for another protocol (RFC 9110 §7.8), and ends the connection. */
function answerWithoutUpgrade(server: Server, req: IncomingMessage, socket: Socket): void {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.on("finish", () => socket.destroySoon());
  server.emit("request", req, res);
}

type Answers = (req: IncomingMessage, res: ServerResponse) => boolean;

async function docsOf(service: ServiceDefinition, folder: string): Promise<Answers> {
  const { docsEndpoint } = await import("../http/docs/docs-endpoint.js");
  const { title, realtime, routes, identity } = service;
  // A service that has such paths of its own has its own pages there, in production too.
  if (routes.some(({ path }) => /^\/docs(?:\/|$)/.test(path))) return () => false;
  // What a page is told, and no more.
  const plane =
    realtime === undefined ? null : { path: realtime.path, transports: realtime.transports };
  const bearer = identity?.ingress.find(({ kind }) => kind === "bearer");
  const tokenHeader = bearer?.kind === "bearer" ? bearer.header : "Authorization";
  return docsEndpoint({ title, folder, realtime: plane, tokenHeader });
}

/** What no route matches goes to the author's app, then to the documentation, then to a JSON 404 or the masked error. */
function appFallback(
  service: ServiceDefinition,
  log: Log,
  answerDocs: Answers,
): (
  req: Parameters<RequestHandler>[0],
  res: Parameters<RequestHandler>[1],
  error?: unknown,
) => void {
  return (req, res, error) => {
    const refuse = (fault: unknown): void => {
      if (fault === undefined && answerDocs(req, res)) return;
      if (fault !== undefined) log.error({ err: fault }, "the app failed");
      replyError(req, res, readMetadata(req.headers), fault ?? fail("route_not_found"));
    };
    if (error !== undefined || service.app === undefined) {
      refuse(error);
      return;
    }
    try {
      const answered = service.app(req, res, refuse);
      if (answered instanceof Promise) answered.catch(refuse);
    } catch (fault) {
      refuse(fault);
    }
  };
}

function listen(server: Server, settings: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(settings.port, settings.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Connections that have brought no request yet, such as those that browsers open in advance; Node counts none as idle. */
function connectionsWithoutRequest(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  const used = ({ socket }: IncomingMessage): void => void unused.delete(socket);
  server.on("request", used);
  server.on("upgrade", used);
  return unused;
}

async function closed(
  server: Server,
  unused: ReadonlySet<Socket>,
  patienceMillis: number,
): Promise<void> {
  const done = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection that is kept alive becomes idle when its last answer ends, which may be later.
  const idle = setInterval(() => {
    server.closeIdleConnections();
    for (const socket of unused) socket.destroy();
  }, 50);
  const patience = setTimeout(() => server.closeAllConnections(), patienceMillis);
  await done;
  clearInterval(idle);
  clearTimeout(patience);
}

async function answers(database: Database): Promise<boolean> {
  const patience = new AbortController();
  try {
    return await Promise.race([
      database.ping().then(() => true),
      sleep(2_000, false, { signal: patience.signal }),
    ]);
  } catch {
    return false;
  } finally {
    patience.abort();
  }
}

/** The relay of a service with an outbox, woken by every commit that staged something. */
function startOutbox(
  { outbox }: ServiceDefinition,
  connection: Connection,
  settings: Settings,
): Relay | undefined {
  if (outbox === undefined) return undefined;
  const relay = startRelay({
    database: connection.database,
    log: connection.log,
    sealer: connection.sealer,
    destinations: destinationsOf(outbox, settings, connection.log),
    maxAttempts: settings.outboxMaxAttempts,
    backoffMillis: settings.outboxBackoffMillis,
  });
  connection.onStaged(relay.wake);
  return relay;
}
