// What a service says in real time, and what may be said to it, from asyncapi.json.
import type { OpenApi, Schema } from "../openapi/document.js";
import { resolveReference } from "../openapi/document.js";

interface Reference {
  readonly $ref: string;
}

interface Message {
  readonly name: string;
  readonly summary?: string;
  readonly payload: Schema;
}

interface Channel {
  readonly "x-svc-audience-kinds"?: readonly string[];
  readonly "x-svc-offline-delivery"?: boolean;
}

interface AsyncOperation {
  readonly action: "send" | "receive";
  readonly summary?: string;
  readonly channel: Reference;
  readonly messages: readonly Reference[];
  readonly "x-svc-operation"?: string;
}

/** The document; its components are found as those of an OpenAPI document are. */
export interface AsyncApi extends OpenApi {
  readonly operations: Readonly<Record<string, AsyncOperation>>;
}

export interface Signal {
  readonly name: string;
  readonly summary: string;
  readonly audience: readonly string[];
  /** Null for what the connection itself says. */
  readonly isDurable: boolean | null;
  /** What it tells, without its envelope. */
  readonly data: Schema;
}

export interface CommandType {
  readonly name: string;
  readonly summary: string;
  /** The operation that it invokes. */
  readonly operation: string;
  readonly payload: Schema;
}

/** What is told over a WebSocket; channels with all messages are one more transport. */
export function signalsOf(document: AsyncApi): readonly Signal[] {
  return Object.values(document.operations)
    .filter(({ action, messages }) => action === "send" && messages.length === 1)
    .map(({ channel, messages, summary }) => {
      const where = resolveReference<Channel>(document, channel);
      const { name, payload } = messageOf(document, messages);
      return {
        name,
        summary: summary ?? "",
        audience: where["x-svc-audience-kinds"] ?? [],
        isDurable: where["x-svc-offline-delivery"] ?? null,
        data: memberOf(document, payload, "data"),
      };
    });
}

/** The commands of the service's own, as they are sent over a WebSocket. */
export function commandsOf(document: AsyncApi): readonly CommandType[] {
  return Object.values(document.operations).flatMap((operation): readonly CommandType[] => {
    const key = operation["x-svc-operation"];
    const { name, payload } = messageOf(document, operation.messages);
    // A channel with all messages is one more transport.
    if (key === undefined || operation.channel.$ref !== `#/channels/${name}`) return [];
    const own = memberOf(document, payload, "payload");
    return [{ name, summary: operation.summary ?? "", operation: key, payload: own }];
  });
}

function messageOf(document: AsyncApi, messages: readonly Reference[]): Message {
  return resolveReference<Message>(document, messages[0] ?? { $ref: "" });
}

/** A member of an envelope, or the whole schema if it has none of that name. */
function memberOf(document: AsyncApi, schema: Schema, name: string): Schema {
  const member = resolveReference<Schema>(document, schema as Schema).properties?.[name];
  return typeof member === "object" ? member : schema;
}
