// The limits and parameters of a realtime handshake, for the generator's documents and the running
// service (decisions.md §2).

/** The one version of the protocol. */
export const protocolVersion = 1;

/** Parameters in the query of a handshake. */
export const handshakeParameters = [
  "protocol",
  "device_id",
  "topics",
  "last_event_id",
  "from",
] as const;

/** Topics of one connection, and the characters of one. */
export const maxTopics = 32;
export const maxTopicLength = 256;

const named = `[^,]{1,${maxTopicLength}}`;
/** The first of names: a text that begins with `["` is a JSON list. */
const first = `(?:[^,\\[][^,]{0,${maxTopicLength - 1}}|\\[(?:[^,"][^,]{0,${maxTopicLength - 2}})?)`;
const json = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})){1,${maxTopicLength}}"`;

/**
 * Topics in a query, as a pattern of JSON Schema: names, separated by commas, or a JSON list of
 * names.
 */
export const topicsPattern = `^(?:${first}(?:,${named}){0,${maxTopics - 1}}|\\[${json}(?:, ?${json}){0,${maxTopics - 1}}\\])?$`;

/** What documents say of them. */
export const topicsInQuery = `Up to ${maxTopics} topics, with commas between them. As a JSON list (\`["a,b","c"]\`) if a name has a comma.`;

/** Signals on one page of the history: at most, and if the request names no limit. */
export const maxHistoryPage = 100;

/** What a device may be called, as a pattern of JSON Schema: visible ASCII characters. */
export const devicePattern = "^[\\x21-\\x7e]{1,128}$";

/** Principals on one page of who hears a topic: at most, and if the request names no limit. */
export const maxPresencePage = 1_000;

/** What a plane answers, each below the path of the plane. */
export const planePaths = {
  history: "/history",
  devices: "/devices",
  presence: "/presence",
  sse: "/sse",
  acknowledge: "/sse/ack",
  websocket: "/ws",
  socketio: "/socket.io",
} as const;

interface PlaneFacts {
  readonly path: string;
  readonly presence: boolean;
  readonly transports: readonly ("sse" | "websocket" | "socketio")[];
}

/** The whole paths that a plane with these transports answers over HTTP. */
export function pathsOfPlane({ path, presence, transports }: PlaneFacts): readonly string[] {
  const { history, devices, acknowledge, ...others } = planePaths;
  return [
    history,
    devices,
    ...(presence ? [others.presence] : []),
    ...transports.flatMap((one) => (one === "sse" ? [others.sse, acknowledge] : others[one])),
  ].map((below) => path + below);
}
