// What an AsyncAPI document is made of: channels, operations and messages, each message with a component for its payload.
import { withDeprecationText } from "../load/deprecations.js";
import { limits } from "../../runtime/contract/limits.js";
import {
  mapSchema,
  objectSchema,
  referredType,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { pascalCase } from "../model/names.js";
import type { RegistryModel } from "../model/registry.js";

const security = [{ $ref: "#/components/securitySchemes/token" }];
export const text: JsonSchema = { type: "string", minLength: 1 };
export const error: JsonSchema = objectSchema(
  { detail: text, code: text, kind: text, context: { type: "object" } },
  ["detail", "code", "kind", "context"],
);
export const cid: JsonSchema = { type: ["string", "number"], maxLength: limits.maxCidLength };

/** What the service wraps around what it says: later versions may add members, which clients pass over. */
export function envelope(properties: Readonly<Record<string, JsonSchema>>): SchemaObject {
  return { type: "object", properties, required: Object.keys(properties) };
}

export class AsyncApiParts {
  readonly channels: Record<string, unknown> = {};
  readonly operations: Record<string, unknown> = {};
  readonly messages: Record<string, unknown> = {};
  /** Schemas of components by their names. */
  readonly schemas = new Map<string, JsonSchema>();
  readonly #types: RegistryModel["types"];

  constructor(types: RegistryModel["types"]) {
    this.#types = types;
  }

  /** A message that the service sends. */
  sends(name: string, summary: string, payload: JsonSchema, extensions: object = {}): void {
    this.#channel(name, [this.#message(name, "Event", payload)], extensions);
    this.operations[`send.${name}`] = {
      action: "send",
      summary,
      channel: { $ref: `#/channels/${name}` },
      messages: [carried(name, name)],
      security,
    };
  }

  /** A frame that the service takes. `answer` is what comes back where all goes well; null is nothing. */
  receives(
    name: string,
    summary: string,
    payload: JsonSchema,
    answer: JsonSchema | null,
    extensions: object = {},
  ): void {
    const asked = this.#message(name, "Frame", payload);
    const answered =
      answer === null ? [] : [this.#message(`${name}.answer`, "Frame", acked(answer))];
    this.#channel(name, [asked, ...answered], {});
    const reply = {
      channel: { $ref: `#/channels/${name}` },
      messages: answered.map((one) => carried(name, one)),
    };
    this.operations[`receive.${name}`] = {
      action: "receive",
      summary,
      channel: { $ref: `#/channels/${name}` },
      messages: [carried(name, asked)],
      ...(answered.length === 0 ? {} : { reply }),
      security,
      ...extensions,
    };
  }

  /** A message with a component of its own for its payload; returns the name of the message. */
  #message(name: string, suffix: string, payload: JsonSchema): string {
    let component = pascalCase(name) + suffix;
    while (Object.hasOwn(this.#types, component) || this.schemas.has(component)) component += "_";
    this.schemas.set(component, this.#published(payload));
    this.messages[name] = {
      name,
      title: name,
      contentType: "application/json",
      payload: { $ref: `#/components/schemas/${component}` },
    };
    return name;
  }

  #channel(name: string, carries: readonly string[], extensions: object): void {
    this.channels[name] = {
      address: name,
      title: name,
      messages: Object.fromEntries(
        carries.map((one) => [one, { $ref: `#/components/messages/${one}` }]),
      ),
      ...extensions,
    };
  }

  /** A schema whose references lead to components, which are noted. */
  #published(schema: JsonSchema): JsonSchema {
    return mapSchema(schema, (inner) => {
      const type = referredType(inner);
      const told = withDeprecationText(inner);
      if (type === undefined) return told;
      if (!this.schemas.has(type)) {
        this.schemas.set(type, true);
        this.schemas.set(type, this.#published(this.#types[type] ?? true));
      }
      return { ...told, $ref: `#/components/schemas/${type}` };
    });
  }
}

function carried(at: string, name: string): object {
  return { $ref: `#/channels/${at}/messages/${name}` };
}

/** What a WebSocket answers a frame with: its output, or an error. */
function acked(data: JsonSchema): JsonSchema {
  const members = { type: { const: "ack" }, cid };
  return {
    oneOf: [envelope({ ...members, data }), envelope({ ...members, error })],
  };
}
