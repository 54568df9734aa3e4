// The parts of an AsyncAPI document: channels, operations and messages, each message with a
// component for its payload.
import { withDeprecationText } from "../../load/deprecations.js";
import { withoutFormer } from "../../load/former-names.js";
import { limits } from "../../../runtime/contract/limits.js";
import {
  mapSchema,
  objectSchema,
  referredType,
  type JsonSchema,
  type SchemaObject,
} from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import type { RegistryModel } from "../../model/registry.js";

/** The address of a channel, and how clients connect to it. */
export interface TransportEndpoint {
  readonly address: string;
  readonly servers: readonly object[];
  /** The member `bindings` of its channels and of its operations, or empty objects. */
  readonly bindings: object;
  readonly operationBindings: object;
}

export const text: JsonSchema = { type: "string", minLength: 1 };
const error: JsonSchema = objectSchema(
  { detail: text, code: text, kind: text, context: { type: "object" } },
  ["detail", "code", "kind", "context"],
);
const cid: JsonSchema = { type: ["string", "number"], maxLength: limits.maxCidLength };

/**
 * The schema of a message of the service. It is open: later versions may add members, which clients
 * ignore.
 */
export function envelope(
  required: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): SchemaObject {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}

/** The envelope of a signal that is published and not kept. */
export function ephemeralEnvelope(data: JsonSchema): SchemaObject {
  return envelope({ id: { type: "null" }, data }, { signal_id: signalId, traceparent });
}

/** Where a signal or a command is in a trace. */
export const traceparent: JsonSchema = {
  type: "string",
  description: "Its trace, if somebody records that: W3C `traceparent`.",
};

const signalId: JsonSchema = {
  type: "string",
  description: "Another one for each signal: if two connections bring the same, it is one signal.",
};

/** A frame that the service accepts. */
export interface Received {
  readonly name: string;
  readonly summary: string;
  readonly payload: JsonSchema;
  /** The options that a frame may have besides the payload. */
  readonly headers?: JsonSchema;
  /** The answer; null for none. */
  readonly answer: JsonSchema | null;
  readonly extensions?: object;
}

interface Channel {
  readonly messages: Record<string, object>;
  readonly [member: string]: unknown;
}

/** Collects the parts of one document; its members are sections of the document. */
export class AsyncApiParts {
  readonly channels: Record<string, Channel> = {};
  readonly operations: Record<string, unknown> = {};
  readonly messages: Record<string, unknown> = {};
  /** Schemas of components by their names. */
  readonly schemas = new Map<string, JsonSchema>();
  readonly #types: RegistryModel["types"];
  /** The endpoint whose channels are named after events and commands. */
  readonly #endpoint: TransportEndpoint;
  /** The names of schemas that are components. */
  readonly #names = new Map<JsonSchema, string>();
  /** Messages that the service sends. */
  readonly #sent: string[] = [];

  constructor(types: RegistryModel["types"], endpoint: TransportEndpoint) {
    this.#types = types;
    this.#endpoint = endpoint;
  }

  /**
   * A reference to the schema, which becomes a component with this name or, if it is taken, the
   * name with underscores. Booleans and references are no components.
   */
  named(wanted: string, schema: JsonSchema): JsonSchema {
    if (typeof schema === "boolean" || "$ref" in schema) return this.#published(schema);
    let name = this.#names.get(schema);
    if (name === undefined) {
      name = wanted;
      while (Object.hasOwn(this.#types, name) || this.schemas.has(name)) name += "_";
      this.#names.set(schema, name);
      this.schemas.set(name, this.#published(schema));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** An error as clients get it. */
  get error(): JsonSchema {
    return this.named("ErrorEnvelope", error);
  }

  /** The correlation id, which a frame and its answer share. */
  get cid(): JsonSchema {
    return this.named("CorrelationId", cid);
  }

  /** Adds a message that the service sends, with a channel and an operation of its own. */
  sends(name: string, summary: string, payload: JsonSchema, extensions: object = {}): void {
    this.#sent.push(this.#message(name, "Event", { payload }));
    this.#channel(name, this.#endpoint, [name], extensions);
    this.operations[`send.${name}`] = {
      action: "send",
      summary,
      channel: { $ref: `#/channels/${name}` },
      messages: [referToMessage(name, name)],
      ...this.#endpoint.operationBindings,
    };
  }

  /**
   * Adds a channel of one more transport, which carries every message that was added with `sends`.
   */
  sendsAll(name: string, summary: string, endpoint: TransportEndpoint): void {
    this.#channel(name, endpoint, this.#sent, {});
    this.operations[`send.${name}`] = {
      action: "send",
      summary,
      channel: { $ref: `#/channels/${name}` },
      messages: this.#sent.map((one) => referToMessage(name, one)),
      ...endpoint.operationBindings,
    };
  }

  /**
   * Adds a frame that the service accepts: on a channel of its own, or on that of the further
   * transport `over`.
   */
  receives(frame: Received, over: string | null): void {
    const { summary, answer, extensions = {} } = frame;
    const name = over === null ? frame.name : `${over}.${frame.name}`;
    const at = over ?? name;
    const asked = this.#message(name, "Frame", frame);
    const answered =
      answer === null ? [] : [this.#message(`${name}.answer`, "Frame", { payload: answer })];
    if (over === null) this.#channel(name, this.#endpoint, [], {});
    Object.assign(this.channels[at]?.messages ?? {}, messagesOf([asked, ...answered]));
    const reply = {
      channel: { $ref: `#/channels/${at}` },
      messages: answered.map((one) => referToMessage(at, one)),
    };
    this.operations[`receive.${name}`] = {
      action: "receive",
      summary,
      channel: { $ref: `#/channels/${at}` },
      messages: [referToMessage(at, asked)],
      ...(answered.length === 0 ? {} : { reply }),
      ...extensions,
    };
  }

  /** Adds a message with a component for its payload; returns the name of the message. */
  #message(
    name: string,
    suffix: string,
    { payload, headers }: Pick<Received, "payload" | "headers">,
  ): string {
    this.messages[name] = {
      name,
      title: name,
      contentType: "application/json",
      ...(headers === undefined ? {} : { headers }),
      payload: this.named(pascalCase(name) + suffix, payload),
    };
    return name;
  }

  #channel(
    name: string,
    { address, servers, bindings }: TransportEndpoint,
    carries: readonly string[],
    extensions: object,
  ): void {
    this.channels[name] = {
      address,
      title: name,
      servers,
      messages: messagesOf(carries),
      ...bindings,
      ...extensions,
    };
  }

  /** The schema with references to components. Adds the components that it needs. */
  #published(schema: JsonSchema): JsonSchema {
    return mapSchema(schema, (inner) => {
      const type = referredType(inner);
      const told = withDeprecationText(withoutFormer(inner));
      if (type === undefined) return told;
      if (!this.schemas.has(type)) {
        this.schemas.set(type, true);
        this.schemas.set(type, this.#published(this.#types[type] ?? true));
      }
      return { ...told, $ref: `#/components/schemas/${type}` };
    });
  }
}

function messagesOf(names: readonly string[]): Record<string, object> {
  return Object.fromEntries(names.map((one) => [one, { $ref: `#/components/messages/${one}` }]));
}

function referToMessage(at: string, name: string): object {
  return { $ref: `#/channels/${at}/messages/${name}` };
}
