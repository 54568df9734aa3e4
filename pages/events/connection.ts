// The connection of the events page, by the transports of the client.
import { createClient } from "../../client/core.js";
import type { Ending, Line, Transport } from "../../client/realtime/port.js";
import { sse } from "../../client/realtime/sse.js";
import { socketIo, type MakeSocketIo } from "../../client/realtime/socketio.js";
import { webSocket } from "../../client/realtime/websocket.js";
import type { Catalog } from "../openapi/catalog.js";
import { clientOperationOf } from "../openapi/client-operation.js";
import { operationsOf } from "../openapi/operations.js";
import type { OpenApi } from "../openapi/document.js";
import { config } from "../shell/config.js";
import { credentials, heldToken } from "../shell/tokens.js";
import type { CommandType } from "./asyncapi.js";

/** Transports by their names in the registry, as they are offered. */
export const transportNames: Readonly<Record<string, string>> = {
  websocket: "WebSocket",
  sse: "Server-Sent Events",
  socketio: "Socket.IO",
};

/** Of this page alone: a device has one connection. */
const deviceId = `docs-${crypto.randomUUID().slice(0, 8)}`;

export interface Listener {
  opened(): void;
  signal(name: string, data: unknown): void;
  ended(ending: Ending): void;
}

export interface Connecting {
  readonly openapi: OpenApi;
  readonly catalog: Catalog;
  readonly transport: string;
  readonly topics: readonly string[];
  readonly commands: readonly CommandType[];
}

/** Opens a connection as who is signed in. What is durable is acknowledged once it is shown. */
export async function openLine(
  { openapi, catalog, transport, topics, commands }: Connecting,
  listener: Listener,
): Promise<Line> {
  const client = createClient({
    baseUrl: location.origin,
    headers: credentials(),
    tokenHeader: config.tokenHeader,
    tokenScheme: config.tokenScheme,
  });
  const chosen = await transportOf(transport);
  const dial = {
    client,
    path: config.realtime?.path ?? "",
    token: heldToken(),
    caller: null,
    deviceId,
    topics,
    lastEventId: null,
    begun: () => undefined,
    from: "now",
    commands: Object.fromEntries(
      commands.flatMap(({ name, operation: key }) => {
        const operation = operationsOf(openapi).get(key);
        return operation === undefined ? [] : [[name, clientOperationOf(operation, catalog)]];
      }),
    ),
  } as const;
  const line = chosen.open(dial, {
    opened: () => listener.opened(),
    signal(name, id, data) {
      listener.signal(name, data);
      if (id !== null) line.acknowledge(id);
    },
    ended: (ending) => listener.ended(ending),
  });
  return line;
}

async function transportOf(name: string): Promise<Transport> {
  if (name === "sse") return sse();
  if (name !== "socketio") return webSocket();
  const { io } = await import("socket.io-client");
  return socketIo(io as unknown as MakeSocketIo);
}
