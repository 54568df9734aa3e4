// Starting and stopping a service: engines, migrations, listener, readiness, drain (decisions.md
// §3).
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fail } from "../contract/errors.js";
import { answerClientErrors } from "../http/client-error.js";
import { errorPageOf } from "../http/docs/error-page.js";
import { takeExpectations } from "../http/expectations.js";
import { checkHost } from "../http/host.js";
import { checkHttpVersion } from "../http/http-version.js";
import { readMetadata } from "../http/input/metadata.js";
import { normalizeTarget } from "../http/target.js";
import { withPublicServer } from "../http/published-address.js";
import { replyError } from "../http/reply.js";
import {
  documentEndpoint,
  type ServiceEndpoint,
  type Surroundings,
} from "../http/service-endpoint.js";
import { reliably, usualEnvelope } from "../operations/error-envelope.js";
import { Connections } from "../http/connections.js";
import { Exchange, type AnswerStyle } from "../http/exchange.js";
import { logRequest } from "../http/request-log.js";
import { startPeriodic, type Periodic } from "../work/periodic.js";
import type { ServiceQuestion, Started } from "../operations/family.js";
import type { Log } from "../ports/log.js";
import type { Tracer } from "../ports/tracer.js";
import type { Answers } from "./app-fallback.js";
import { defaultTenant } from "../contract/default-tenant.js";
import { connect, type ServiceConnection, type ConnectOptions } from "./connect.js";
import { openOwnBackup, startBackup } from "./backup/continuous/open.js";
import { callersOf, endpointsOf, familiesOf } from "../families.js";
import { pollsOf } from "./console-routes.js";
import { keepLines, keepNothing, type KeptLog } from "./kept-log.js";
import { hasDocs, pagesOf } from "./pages.js";
import { sourcesOf } from "./metric-sources.js";
import { startMetrics, type Metrics } from "./metrics.js";
import { openBus } from "./bus.js";
import { openAll, type Opened } from "./opened.js";
import { gatherOutages } from "./outage-log.js";
import { periodicJobs } from "./periodic-jobs.js";
import { probesOf } from "./probes.js";
import { frontOf, handlerOf } from "./request-handler.js";
import { readinessOf } from "./readiness.js";
import { firstNameOf, type ServiceDefinition } from "./service.js";
import type { Settings } from "./settings.js";
import { watchEndpoints } from "./watch-endpoints.js";
import { takeUpgrades } from "./upgrades.js";
import { sleep } from "../ports/ambient.js";

/** A service that answers requests. */
export interface RunningService {
  /** `http://host:port`, with the port that was really taken. */
  readonly url: string;
  /** The URL of probes and metrics if they have a port of their own; otherwise null. */
  readonly adminUrl: string | null;
  /** The database and keys that it works with. */
  readonly connection: ServiceConnection;
  /**
   * Drains and stops: not ready, settle, close listeners, finish requests, close engines.
   * Idempotent.
   */
  stop(): Promise<void>;
}

/**
 * Connections that may wait to be accepted, if the system allows so many; beyond that it silently
 * drops some.
 */
const waitingToConnect = 4_096;
/** Seconds that a stop may take in addition to settling and draining. */
const stopSlackSeconds = 5;
/**
 * How long connections may stay open after their last answer, in milliseconds; never longer than
 * settling took.
 */
const mostLingerMillis = 1_000;

/**
 * Origins whose pages may act for a caller: the configured ones, and the public URL's, since
 * proxies may change the host.
 */
function originsOf({ corsOrigins, publicUrl }: Settings): readonly string[] {
  return publicUrl === undefined ? corsOrigins : [...corsOrigins, new URL(publicUrl).origin];
}

/**
 * Starts a service; resolves once it listens. Pending migrations are applied before, unless the
 * settings leave them to the `migrate` command. Rejects if the database, an engine or a port is not
 * available; then nothing stays open.
 */
export function start(
  service: ServiceDefinition,
  options: ConnectOptions,
): Promise<RunningService> {
  const { log, settings } = options;
  const hasReader = settings.consolePermission !== null;
  const kept = hasReader ? keepLines(log, settings.logLevel) : keepNothing(log);
  const gathering = gatherOutages(kept.log);
  return openAll((opened) => {
    // Last of all, once nothing fails any more.
    opened.add(() => gathering.flush());
    return startService(service, { ...options, log: gathering }, kept, opened);
  });
}

async function startService(
  service: ServiceDefinition,
  options: ConnectOptions,
  lines: KeptLog,
  opened: Opened,
): Promise<RunningService> {
  const { settings, log } = options;
  // The order in which a service stops is the opposite of this one. Probes are answered to the end.
  const admin = settings.adminPort === null ? null : adminServer(() => answerWatch);
  opened.add(() => {
    admin?.close();
    admin?.closeAllConnections();
  });
  const store = await openOwnBackup(service, settings, opened);
  const connection = await connect(service, options);
  opened.add(() => connection.close());
  const backup = startBackup(service, settings, connection, { store, opened });
  const work: { periodic?: Periodic } = {};
  opened.add(() => work.periodic?.stop());
  const allowedOrigins = originsOf(settings);
  startFamilies(service, connection, settings, opened);

  let state: "active" | "settling" | "draining" = "active";
  const isAccepting = (): boolean => state !== "draining";
  const callers = callersOf(service);
  const bind = callers.bind({
    resources: connection,
    trustsProxy: settings.trustsProxy,
    allowedOrigins,
  });
  const style = styleOf(service, options, callers.style);
  const { printError } = style;
  const endpoints = await openEndpoints(service, connection, options, {
    bind,
    allowedOrigins,
    credentials: callers.credentials,
    printError,
    isAccepting,
  });
  const server = httpServer();
  const connections = new Connections(server, settings.connections);
  opened.add(({ drainMillis, lingerMillis }) =>
    Promise.all([
      ...endpoints.map((one) => one.stop?.()),
      connections.close(drainMillis, lingerMillis),
    ]),
  );
  const readiness = readinessOf(probesOf(service, connection, endpoints));
  const counted = sourcesOf(service, connection, { connections, readiness, endpoints, backup });
  const metrics = settings.hasMetrics ? startMetrics(counted) : null;
  opened.add(() => metrics?.close());
  const front = frontOf(settings, connection, bind);
  const questions = questionsOf(service, connection);
  const parts = { folder: options.folder, connection, metrics, lines, questions, front };
  const pages = await pagesOf(service, settings, parts);
  const answerOther = await handlerOf(service, options, connection, front, endpoints, pages);
  const isActive = (): boolean => state === "active";
  const answerWatch = watchEndpoints({ isActive, readiness, metrics }, service.probes);
  const ended = observerOf(settings, log, metrics, pollsOf(questions));
  const answerProbes = admin === null ? answerWatch : () => false;
  const { tracer } = connection;
  takeRequests(server, connections, { style, ended, tracer }, (req, res) => {
    // Probes come first, before everything that may have to wait.
    if (!answerProbes(req, res)) answerOther(req, res);
  });
  answerClientErrors(server, connections, style.printError);
  takeUpgrades(server, connections, endpoints, style);
  await listen(server, settings.port, settings.host);
  if (admin !== null) await listen(admin, settings.adminPort ?? 0, settings.host);
  work.periodic = startPeriodic(connection, periodicJobs(service, connection));

  const url = urlOf(server);
  connection.listensAt(url);
  const settle = (): void => {
    // Nothing more is begun; what is under way is waited for in its turn.
    void work.periodic?.stop();
    state = "settling";
    connections.settle();
  };
  const stop = stopperOf(settings, settle, (draining) => {
    state = "draining";
    return opened.close(draining);
  });
  return { url, adminUrl: admin === null ? null : urlOf(admin, settings.host), connection, stop };
}

/** Stops a service in its stages. Whoever asks for it later waits for the same stop. */
function stopperOf(
  { settleSeconds, drainSeconds }: Settings,
  settle: () => void,
  close: Opened["close"],
): () => Promise<void> {
  const stop = async (): Promise<void> => {
    settle();
    await sleep(settleSeconds * 1000);
    const lingerMillis = Math.min(settleSeconds * 1000, mostLingerMillis);
    await close({ drainMillis: drainSeconds * 1000, lingerMillis });
  };
  let stopped: Promise<void> | undefined;
  return () => (stopped ??= stopWithin(stop(), settleSeconds + drainSeconds + stopSlackSeconds));
}

/**
 * How answers look, whoever gives them. An envelope of the author's says what callers learn of an
 * error, so then there is no page that says more.
 */
function styleOf(
  service: ServiceDefinition,
  { settings, log }: ConnectOptions,
  ofCallers: Pick<AnswerStyle, "callerFields" | "challenge">,
): AnswerStyle {
  const { title, errorEnvelope } = service;
  const hasErrorPage = errorEnvelope === undefined && hasDocs(service, settings);
  return {
    ...ofCallers,
    compressBytes: settings.compressBytes,
    printError: reliably(errorEnvelope ?? usualEnvelope, log),
    errorPage: hasErrorPage ? errorPageOf(title) : null,
  };
}

/** Opens what the service answers besides its operations: the OpenAPI document comes first. */
async function openEndpoints(
  service: ServiceDefinition,
  connection: ServiceConnection,
  { settings, folder, log }: ConnectOptions,
  ofRequests: Pick<
    Surroundings,
    "bind" | "allowedOrigins" | "credentials" | "printError" | "isAccepting"
  >,
): Promise<readonly ServiceEndpoint[]> {
  const { busUrl, drainSeconds, publicUrl } = settings;
  const surroundings: Surroundings = {
    ...ofRequests,
    service: connection,
    defaultTenant,
    drainSeconds,
    publicUrl,
    readDocument: (name) => readFile(join(folder, name)),
    openBus: () => openBus(busUrl, firstNameOf(service), log),
    signalsTo: (plane) => connection.signalsTo(plane),
  };
  const openapi = documentEndpoint("openapi.json", surroundings, withPublicServer);
  return [openapi, ...(await endpointsOf(service, surroundings))];
}

/** What the console asks the families of a service. */
function questionsOf(
  service: ServiceDefinition,
  connection: ServiceConnection,
): readonly ServiceQuestion[] {
  return familiesOf(service).flatMap(({ family, part }) => family.questions(part, connection));
}

/** Logs and counts requests that have been answered; what is polled is only counted. */
function observerOf(
  { logLevel }: Settings,
  log: Log,
  metrics: Metrics | null,
  isPolled: (exchange: Exchange) => boolean,
): (exchange: Exchange) => void {
  const isLogged = logLevel === "info" || logLevel === "debug";
  return (exchange) => {
    if (isLogged && !isPolled(exchange)) logRequest(log, exchange);
    metrics?.observe(exchange);
  };
}

/** The URL at which a server listens, at the address that it took or at a host. */
function urlOf(server: Server, host?: string): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${host ?? (family === "IPv6" ? `[${address}]` : address)}:${port}`;
}

/** What every request is taken with. */
interface Taking extends Pick<Exchange, "style"> {
  readonly ended: (exchange: Exchange) => void;
  readonly tracer: Tracer | null;
}

/** Takes the requests of each connection in turn, and calls `ended` when one has been answered. */
function takeRequests(
  server: Server,
  connections: Connections,
  { style, ended, tracer }: Taking,
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): void {
  const take = (
    req: IncomingMessage,
    res: ServerResponse,
    reply: (req: IncomingMessage, res: ServerResponse) => void,
  ): void => {
    const exchange = Exchange.of(req, res);
    exchange.style = style;
    // By the time of its turn on the connection, the span of another request may be the active one.
    exchange.outer = tracer?.outer() ?? null;
    exchange.whenEnded(ended);
    connections.admit(req, res, () => {
      try {
        normalizeTarget(req);
        checkHttpVersion(req);
        checkHost(req);
      } catch (error) {
        replyError(req, res, readMetadata(req.headers), error);
        return;
      }
      reply(req, res);
    });
  };
  server.on("request", (req, res) => take(req, res, answer));
  takeExpectations(server, take, answer);
}

/**
 * A server whose time limits begin with the first byte of a request; `Connections` has the other
 * limits.
 */
function httpServer(): Server {
  return createServer({
    // Bodies have timeouts of their own: an upload may take as long as its bytes keep coming.
    requestTimeout: 0,
    headersTimeout: 15_000,
    keepAliveTimeout: 65_000,
    // Node's own refusal of a request without Host has no body; `checkHost` answers with the error
    // envelope.
    requireHostHeader: false,
  });
}

/**
 * Limits the whole stop to so many seconds: what hasn't ended by then is left to the end of the
 * process.
 */
async function stopWithin(stop: Promise<void>, seconds: number): Promise<void> {
  const patience = new AbortController();
  const late = sleep(seconds * 1000, undefined, { signal: patience.signal, ref: false });
  try {
    await Promise.race([stop, late.catch(() => undefined)]);
  } finally {
    patience.abort();
  }
}

/** A server for probes and metrics on a port of their own, apart from callers' connections. */
function adminServer(answer: () => Answers): Server {
  return createServer((req, res) => {
    if (!answer()(req, res))
      replyError(req, res, readMetadata(req.headers), fail("route_not_found"));
  });
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: waitingToConnect }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Starts the background work of families. */
function startFamilies(
  service: ServiceDefinition,
  connection: ServiceConnection,
  { families }: Settings,
  opened: Opened,
): void {
  const started: Started[] = [];
  opened.add(({ drainMillis }) => Promise.all(started.map((family) => family.stop(drainMillis))));
  for (const { family, part } of familiesOf(service)) {
    const one = family.start(part, connection, families[family.member]);
    if (one !== null && one !== undefined) started.push(one);
  }
}
