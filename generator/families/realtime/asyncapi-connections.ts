// How clients of the realtime plane connect, for AsyncAPI: servers, the address of each transport,
// its bindings, credentials.
import type { RegistryModel } from "../../model/registry.js";
import {
  devicePattern,
  protocolVersion,
  topicsInQuery,
  topicsPattern,
  planePaths,
} from "../../../runtime/contract/realtime.js";
import { objectSchema, type JsonSchema } from "../../model/json-schema.js";
import type { RealtimeModel } from "./model.js";
import type { AsyncApiParts, TransportEndpoint } from "./asyncapi-parts.js";
import { schemesOf } from "../../print/security-schemes.js";

type Transport = RealtimeModel["transports"][number];

/** Protocols of AsyncAPI by transport. They are also the names of the servers. */
const protocols: Readonly<Record<Transport, readonly string[]>> = {
  websocket: ["wss", "ws"],
  socketio: ["wss", "ws"],
  sse: ["https", "http"],
};
/**
 * Transports that accept frames come first: the first one of a plane carries the channels that are
 * named after events.
 */
const preference: readonly Transport[] = ["websocket", "socketio", "sse"];

/** The transports of a plane, the one that carries the channels of events first. */
export function transportsOf({ transports }: RealtimeModel): readonly Transport[] {
  return preference.filter((one) => transports.includes(one));
}

/** What the document says about connections outside its channels. */
export interface AsyncApiConnections {
  readonly servers: Readonly<Record<string, object>>;
  readonly serverVariables: Readonly<Record<string, object>>;
  readonly channelBindings: Readonly<Record<string, object>>;
  readonly operationBindings: Readonly<Record<string, object>>;
  readonly securitySchemes: Readonly<Record<string, object>>;
}

/**
 * Servers and what they refer to. Adds the schemas of queries and headers to the components of
 * `parts`.
 */
export function connectionsOf(
  parts: AsyncApiParts,
  realtime: RealtimeModel,
  identity: RegistryModel["identity"],
): AsyncApiConnections {
  const transports = transportsOf(realtime);
  const schemes = securitySchemes(realtime, identity);
  const names = [...new Set(transports.flatMap((one) => protocols[one]))];
  return {
    servers: Object.fromEntries(
      names.map((protocol) => [protocol, serverOf(protocol, realtime.path, schemes)]),
    ),
    serverVariables: {
      host: {
        default: "localhost:4400",
        description: "The host that clients call, and its port: those of PUBLIC_URL.",
      },
    },
    channelBindings: Object.fromEntries(
      transports.flatMap((one) => (one === "sse" ? [] : [[one, bindingOf(parts, one, identity)]])),
    ),
    operationBindings: transports.includes("sse")
      ? {
          sse: {
            http: {
              method: "GET",
              query: parts.named("SseQuery", handshakeQuery([])),
              bindingVersion: "0.3.0",
            },
          },
        }
      : {},
    securitySchemes: schemes,
  };
}

/** The address, servers and bindings of a transport's channels. */
export function endpointOf(transport: Transport): TransportEndpoint {
  const isStream = transport === "sse";
  return {
    address: planePaths[transport],
    servers: protocols[transport].map((name) => ({ $ref: `#/servers/${name}` })),
    bindings: isStream ? {} : { bindings: { $ref: `#/components/channelBindings/${transport}` } },
    operationBindings: isStream ? { bindings: { $ref: "#/components/operationBindings/sse" } } : {},
  };
}

function serverOf(
  protocol: string,
  pathname: string,
  schemes: Readonly<Record<string, object>>,
): object {
  const isHttp = protocol.startsWith("http");
  // A stream of events is an ordinary request: it has no subprotocol, and no token is accepted in
  // its query.
  const taken = Object.entries(schemes).filter(
    ([name, scheme]) => !isHttp || (name !== subprotocol && !isInQuery(scheme)),
  );
  const isSecure = ["https", "wss"].includes(protocol);
  return {
    host: "{host}",
    pathname,
    protocol,
    description: isSecure ? "Behind TLS." : "Without TLS, as in development.",
    variables: { host: { $ref: "#/components/serverVariables/host" } },
    security: taken.map(([name]) => ({ $ref: `#/components/securitySchemes/${name}` })),
  };
}

function bindingOf(
  parts: AsyncApiParts,
  transport: Exclude<Transport, "sse">,
  identity: RegistryModel["identity"],
): object {
  const ws =
    transport === "socketio"
      ? { query: parts.named("SocketIoQuery", socketIoQuery) }
      : {
          query: parts.named("WebSocketQuery", handshakeQuery(credentialParameters(identity))),
          headers: parts.named("WebSocketHeaders", headers),
        };
  return { ws: { method: "GET", ...ws, bindingVersion: "0.1.0" } };
}

/**
 * The query of a handshake. `credentials` are parameters for a token, which only WebSockets have.
 */
function handshakeQuery(credentials: readonly string[]): JsonSchema {
  const text = (description: string, more: object = {}): JsonSchema => ({
    type: "string",
    description,
    ...more,
  });
  return objectSchema(
    {
      protocol: text("The version of the protocol.", { const: String(protocolVersion) }),
      device_id: text("Has a cursor and one connection.", { pattern: devicePattern }),
      topics: text(topicsInQuery, {
        pattern: topicsPattern,
      }),
      last_event_id: text("Goes on behind this id."),
      from: text("Where a device begins that has no cursor: behind all that is there by now.", {
        const: "now",
      }),
      ...Object.fromEntries(credentials.map((name) => [name, text("A token.")])),
    },
    [],
  );
}

const headers: JsonSchema = {
  type: "object",
  properties: {
    "Sec-WebSocket-Protocol": {
      type: "string",
      description: "`realtime.v1`, and beside it `bearer.<token>` where the token comes so.",
      examples: ["realtime.v1", "realtime.v1, bearer.<token>"],
    },
  },
};

/** The query of Engine.IO. Device, topics and token travel in the `auth` of Socket.IO instead. */
const socketIoQuery: JsonSchema = {
  type: "object",
  properties: { EIO: { const: "4" }, transport: { const: "websocket" } },
  required: ["EIO", "transport"],
};

const subprotocol = "subprotocol";

function credentialParameters(identity: RegistryModel["identity"]): readonly string[] {
  return identity?.ingress.flatMap((one) => (one.kind === "query" ? one.query : [])) ?? [];
}

/** The schemes of OpenAPI in AsyncAPI's terms, and the subprotocol, which only WebSockets have. */
function securitySchemes(
  { transports }: RealtimeModel,
  identity: RegistryModel["identity"],
): Readonly<Record<string, object>> {
  if (identity === null) return {};
  const ofIngress = Object.entries(schemesOf(identity)).map(([name, scheme]) => [
    name,
    "in" in scheme ? { ...scheme, type: "httpApiKey" } : scheme,
  ]);
  const ofWebSockets = transports.includes("websocket")
    ? {
        [subprotocol]: {
          type: "httpApiKey",
          in: "header",
          name: "Sec-WebSocket-Protocol",
          description: "`bearer.<token>`, offered beside `realtime.v1`.",
        },
      }
    : {};
  return { ...Object.fromEntries(ofIngress), ...ofWebSockets };
}

function isInQuery(scheme: object): boolean {
  return "in" in scheme && scheme.in === "query";
}
