// The realtime plane of a running service, with the transports that the registry names.
import { planePaths, pathsOfPlane } from "../../contract/realtime.js";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { settingsOf } from "../../operations/family.js";
import { realtimeFamily } from "../../families/realtime/index.js";
import { withPublicHost } from "../published-address.js";
import { documentEndpoint, type ServiceEndpoint, type Surroundings } from "../service-endpoint.js";
import { countersAsMetrics } from "./metrics.js";
import { answerGet } from "../get-only.js";
import type { AnswerStyle } from "../exchange.js";
import { lateEndpoint, type LateEndpoint } from "../late-endpoint.js";
import { Expiries } from "./expiries.js";
import { stillGood, type RealtimeEndpoint } from "./endpoint.js";
import { devicesEndpoint } from "./devices.js";
import { historyEndpoint } from "./history.js";
import { presenceEndpoint } from "./present.js";
import { sseEndpoint } from "./sse.js";
import { pathOf } from "../target.js";
import { upgradeRequired } from "../upgrade.js";
import { realtimeCounters } from "../../families/realtime/limits.js";
import type { RealtimeSpec } from "../../families/realtime/spec.js";
import { startPlane } from "../../families/realtime/plane.js";
import { sleep } from "../../ports/ambient.js";

/** How long a bus that doesn't answer may hold up a stop, in milliseconds. */
const busMillis = 1_000;

/**
 * Starts the plane. Its endpoints are that of the transports which the registry names, and the
 * AsyncAPI document.
 */
export async function realtimeEndpoints(
  spec: RealtimeSpec,
  surroundings: Surroundings,
): Promise<readonly ServiceEndpoint[]> {
  const document = documentEndpoint("asyncapi.json", surroundings, withPublicHost);
  return [await planeEndpoint(spec, surroundings), document];
}

async function planeEndpoint(
  spec: RealtimeSpec,
  surroundings: Surroundings,
): Promise<ServiceEndpoint> {
  if (spec.transports.includes("socketio")) requireSocketIo();
  const { service, printError, drainSeconds } = surroundings;
  const limits = settingsOf(service, realtimeFamily);
  const bus = await surroundings.openBus();
  const counters = realtimeCounters();
  const plane = startPlane(spec, service, bus, limits, counters);
  surroundings.signalsTo(plane);
  const { bind, allowedOrigins, isAccepting, credentials, defaultTenant } = surroundings;
  const endpoint: RealtimeEndpoint = {
    bind,
    allowedOrigins,
    isAccepting,
    credentials,
    expiries: new Expiries(service.clock),
    defaultTenant,
    spec,
    plane,
    limits,
    counters,
    resources: service,
    isGood: stillGood(bind),
  };
  const answerDevices = devicesEndpoint(endpoint);
  const answerHistory = historyEndpoint(endpoint);
  const answerPresence = presenceEndpoint(endpoint);
  const answerSse = spec.transports.includes("sse") ? sseEndpoint(endpoint) : () => false;
  const transports = lateTransports(endpoint, printError);
  const socketIo = spec.path + planePaths.socketio;
  const paths = new Set(
    pathsOfPlane(spec).flatMap((one) => (one === socketIo ? [one, `${one}/`] : one)),
  );
  return {
    isOwn: (path) => paths.has(path),
    answer: (req, res) =>
      answerHistory(req, res) ||
      answerDevices(req, res) ||
      answerPresence(req, res) ||
      answerSse(req, res) ||
      transports.some((one) => one.answer(req, res)),
    upgrade: (req, socket, head) => transports.some((one) => one.upgrade(req, socket, head)),
    probes: bus === null ? {} : { helpful: { bus: () => bus.probe() } },
    metrics: countersAsMetrics(counters),
    async stop() {
      // Half of the drain time. The other half is for commands, and for clients that answer a close
      // late.
      await plane.stop(drainSeconds * 500);
      await Promise.all(transports.map((one) => one.stop()));
      await Promise.race([bus?.close(), sleep(busMillis, undefined, { ref: false })]);
    },
  };
}

/**
 * The transports that take upgrades. They are loaded when first used, since their packages are the
 * largest of a service.
 */
function lateTransports(
  endpoint: RealtimeEndpoint,
  printError: AnswerStyle["printError"],
): readonly LateEndpoint[] {
  const { transports, path } = endpoint.spec;
  const { resources, isAccepting } = endpoint;
  const telling = { log: resources.log, printError, isAccepting };
  const late: LateEndpoint[] = [];
  if (transports.includes("websocket")) {
    const own = path + planePaths.websocket;
    const paths = { upgrades: [own], answers: [] };
    const load = async () => (await import("./websocket.js")).webSocketEndpoint(endpoint);
    late.push({
      ...lateEndpoint(paths, telling, load),
      answer: (req, res) => answerUpgradeRequired(own, req, res),
    });
  }
  if (transports.includes("socketio")) {
    const address = path + planePaths.socketio;
    const own = [address, `${address}/`];
    const load = async () => (await import("./socketio.js")).socketIoEndpoint(endpoint);
    late.push(lateEndpoint({ upgrades: own, answers: own }, telling, load));
  }
  return late;
}

/**
 * Answers a plain request for the path of WebSockets with 426 (RFC 9110 §15.5.22); returns whether
 * it did.
 */
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

/**
 * Throws if the package is missing, although it is loaded later: a service that can't do its work
 * must not start.
 */
function requireSocketIo(): void {
  try {
    createRequire(import.meta.url).resolve("socket.io");
  } catch (cause) {
    throw new Error("Socket.IO needs the package socket.io: npm install socket.io", { cause });
  }
}
