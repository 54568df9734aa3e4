// Requests that ask to switch to another protocol (`Upgrade`, RFC 9110 §7.8).
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { fail, knownError } from "../contract/errors.js";
import { refuse } from "../http/client-error.js";
import type { Connections } from "../http/connections.js";
import { draining } from "../http/draining.js";
import type { AnswerStyle } from "../http/exchange.js";
import { checkHost } from "../http/host.js";
import { hasBody } from "../http/read-body.js";
import { normalizeTarget } from "../http/target.js";
import type { RunningRealtime } from "./realtime.js";

/**
 * Takes requests that ask for another protocol. Those for a WebSocket go to the realtime plane; others are answered as if they
 * had not asked, or refused if they have a body.
 */
export function takeUpgrades(
  server: Server,
  connections: Connections,
  realtime: RunningRealtime | null,
  {
    isAccepting,
    printError,
  }: Pick<AnswerStyle, "printError"> & {
    readonly isAccepting: () => boolean;
  },
): void {
  server.on("upgrade", (req, socket: Socket, head) => {
    // Node has removed its own listener, and a connection that the caller resets must not end the process.
    socket.on("error", () => socket.destroy());
    if (req.headers.upgrade?.toLowerCase() !== "websocket" && !hasBody(req)) {
      connections.keep(socket);
      answerWithoutUpgrade(server, req, socket);
      return;
    }
    try {
      normalizeTarget(req);
      checkHost(req);
      if (!isAccepting()) throw draining();
      if (realtime?.upgrade(req, socket, head) !== true) throw fail("route_not_found");
    } catch (error) {
      refuse(socket, knownError(error), printError);
    }
  });
}

/** Answers a request as if it had not asked for another protocol (RFC 9110 §7.8), and ends the connection. */
function answerWithoutUpgrade(server: Server, req: IncomingMessage, socket: Socket): void {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.on("finish", () => socket.destroySoon());
  server.emit("request", req, res);
}
