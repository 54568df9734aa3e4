// The realtime plane of a running service, which delivers signals to connections, with the transports that the registry names.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { answerGet } from "../http/get-only.js";
import type { AnswerStyle } from "../http/exchange.js";
import { lateEndpoint, type LateEndpoint } from "../http/late-endpoint.js";
import { stillGood, type RealtimeEndpoint } from "../http/realtime-endpoint.js";
import { historyEndpoint } from "../http/realtime-history.js";
import { presenceEndpoint } from "../http/realtime-present.js";
import { sseEndpoint } from "../http/realtime-sse.js";
import { pathOf } from "../http/target.js";
import { upgradeRequired } from "../http/upgrade.js";
import { realtimeCounters, type RealtimeCounters } from "../families/realtime/limits.js";
import type { RealtimeSpec } from "../families/realtime/spec.js";
import { startPlane } from "../families/realtime/plane.js";
import { openBus } from "./bus.js";
import { defaultTenant, type ServiceConnection } from "./connect.js";
import { firstNameOf, type ServiceDefinition } from "./service.js";
import type { Settings } from "./settings.js";

/** How long a bus that doesn't answer may hold up a stop, in milliseconds. */
const busMillis = 1_000;

export interface RunningRealtime {
  /** How many connections there are, and how often each limit was reached. */
  readonly counters: Readonly<RealtimeCounters>;
  /** The paths that it answers over HTTP. */
  readonly paths: readonly string[];
  /** Answers a request that is for realtime; returns whether it did. */
  answer(req: IncomingMessage, res: ServerResponse): boolean;
  /** Takes an upgrade that is for realtime; returns whether it did. Throws the error that refuses it. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Resolves if the bus is available; undefined if there is none. */
  readonly probeBus: (() => Promise<void>) | undefined;
  stop(): Promise<void>;
}

/** Starts the plane and its transports; null if the service has no realtime. */
export async function startRealtime(
  {
    identity,
    realtime: spec,
    ...service
  }: Pick<ServiceDefinition, "name" | "was" | "identity" | "realtime">,
  connection: ServiceConnection,
  {
    busUrl,
    drainSeconds,
    realtimeLimits: limits,
  }: Pick<Settings, "busUrl" | "drainSeconds" | "realtimeLimits">,
  {
    printError,
    ...boundary
  }: Pick<RealtimeEndpoint, "bind" | "allowedOrigins" | "isAccepting"> &
    Pick<AnswerStyle, "printError">,
): Promise<RunningRealtime | null> {
  if (spec === undefined) return null;
  if (spec.transports.includes("socketio")) requireSocketIo();
  const bus = await openBus(busUrl, firstNameOf(service), connection.log);
  const counters = realtimeCounters();
  const plane = startPlane(spec, connection, bus, limits, counters);
  connection.signalsTo(plane);
  const isGood = stillGood(boundary.bind);
  const endpoint: RealtimeEndpoint = {
    ...boundary,
    spec,
    plane,
    limits,
    counters,
    resources: connection,
    defaultTenant,
    credentialParameters:
      identity?.ingress.flatMap((one) => (one.kind === "query" ? one.query : [])) ?? [],
    isGood,
  };
  const answerHistory = historyEndpoint(endpoint);
  const answerPresence = presenceEndpoint(endpoint);
  const answerSse = spec.transports.includes("sse") ? sseEndpoint(endpoint) : () => false;
  const transports = lateTransports(endpoint, printError);
  return {
    counters,
    paths: pathsOf(spec),
    answer: (req, res) =>
      answerHistory(req, res) ||
      answerPresence(req, res) ||
      answerSse(req, res) ||
      transports.some((one) => one.answer(req, res)),
    upgrade: (req, socket, head) => transports.some((one) => one.upgrade(req, socket, head)),
    probeBus: bus === null ? undefined : () => bus.probe(),
    async stop() {
      // Half of the drain time. The other half is for commands, and for clients that answer a close late.
      await plane.stop(drainSeconds * 500);
      await Promise.all(transports.map((one) => one.stop()));
      await Promise.race([bus?.close(), sleep(busMillis, undefined, { ref: false })]);
    },
  };
}

/** The transports that take upgrades. They are loaded when first used, since their packages are the largest of a service. */
function lateTransports(
  endpoint: RealtimeEndpoint,
  printError: AnswerStyle["printError"],
): readonly LateEndpoint[] {
  const { transports, path } = endpoint.spec;
  const { resources, isAccepting } = endpoint;
  const telling = { log: resources.log, printError, isAccepting };
  const late: LateEndpoint[] = [];
  if (transports.includes("websocket")) {
    const paths = { upgrades: [`${path}/ws`], answers: [] };
    const load = async () =>
      (await import("../http/realtime-websocket.js")).webSocketEndpoint(endpoint);
    late.push({
      ...lateEndpoint(paths, telling, load),
      answer: (req, res) => answerUpgradeRequired(`${path}/ws`, req, res),
    });
  }
  if (transports.includes("socketio")) {
    const own = [`${path}/socket.io`, `${path}/socket.io/`];
    const load = async () =>
      (await import("../http/realtime-socketio.js")).socketIoEndpoint(endpoint);
    late.push(lateEndpoint({ upgrades: own, answers: own }, telling, load));
  }
  return late;
}

/** Answers a plain request for the path of WebSockets with 426 (RFC 9110 §15.5.22); returns whether it did. */
function answerUpgradeRequired(
  address: string,
  req: IncomingMessage,
  res: ServerResponse,
): boolean {
  if (pathOf(req.url ?? "") !== address) return false;
  answerGet(req, res, async () => {
    throw upgradeRequired();
  });
  return true;
}

/** The paths that the plane answers over HTTP. */
function pathsOf({ path, presence, transports }: RealtimeSpec): readonly string[] {
  const own = {
    sse: [`${path}/sse`, `${path}/sse/ack`],
    websocket: [`${path}/ws`],
    socketio: [`${path}/socket.io`, `${path}/socket.io/`],
  };
  const ofPresence = presence ? [`${path}/presence`] : [];
  return [`${path}/history`, ...ofPresence, ...transports.flatMap((transport) => own[transport])];
}

/** Throws if the package is missing, although it is loaded later: a service that can't do its work must not start. */
function requireSocketIo(): void {
  try {
    createRequire(import.meta.url).resolve("socket.io");
  } catch (cause) {
    throw new Error("Socket.IO needs the package socket.io: npm install socket.io", { cause });
  }
}
