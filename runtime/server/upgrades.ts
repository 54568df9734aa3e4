// Requests that ask to switch to another protocol (`Upgrade`, RFC 9110 §7.8).
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { knownError } from "../contract/errors.js";
import { refuse } from "../http/client-error.js";
import type { Connections } from "../http/connections.js";
import type { AnswerStyle } from "../http/exchange.js";
import { headWithoutUpgrade, isWebSocketRequest } from "../http/upgrade.js";
import { normalizeTarget } from "../http/target.js";
import type { ServiceEndpoint } from "../http/service-endpoint.js";

/**
 * Takes requests that ask for another protocol, after what came before on their connection. Those
 * for a WebSocket go to the endpoint that has their path; all others are answered as if they had
 * not asked.
 */
export function takeUpgrades(
  server: Server,
  connections: Connections,
  endpoints: readonly ServiceEndpoint[],
  { printError }: Pick<AnswerStyle, "printError">,
): void {
  /** Whether an endpoint has taken the connection. */
  const isTaken = (req: IncomingMessage, socket: Socket, head: Buffer): boolean => {
    normalizeTarget(req);
    if (!endpoints.some((one) => one.upgrade?.(req, socket, head) === true)) return false;
    // Its protocol may not be loaded yet, and a caller who resets must not end the process.
    socket.on("error", destroySocket);
    connections.release(socket);
    return true;
  };
  server.on("upgrade", (req, socket: Socket, head) => {
    connections.switchOver(socket, () => {
      try {
        if (isWebSocketRequest(req) && isTaken(req, socket, head)) return;
      } catch (error) {
        refuse(socket, knownError(error), printError);
        return;
      }
      // Node's parser can't go on behind a head that asks; it reads the same request again from one
      // that doesn't.
      connections.readAgain(socket, Buffer.concat([headWithoutUpgrade(req), head]));
    });
  });
}

/** One for all connections: a listener of its own would hold a connection's request. */
function destroySocket(this: Socket): void {
  this.destroy();
}
