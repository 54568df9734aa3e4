// asyncapi.json: AsyncAPI 3.0 of the realtime plane (service.md "AsyncAPI description").
import { idempotencyKeyPattern, limits } from "../../runtime/contract/limits.js";
import {
  mapSchema,
  objectSchema,
  referredType,
  refTo,
  type JsonSchema,
} from "../model/json-schema.js";
import { pascalCase } from "../model/names.js";
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";
import { documentFile, type EmittedFile } from "../print/file.js";

const protocolVersion = 1;
const text: JsonSchema = { type: "string", minLength: 1 };
const count: JsonSchema = { type: "integer", minimum: 0 };
const error: JsonSchema = objectSchema(
  { detail: text, code: text, kind: text, context: { type: "object" } },
  ["detail", "code", "kind", "context"],
);
const security = [{ $ref: "#/components/securitySchemes/token" }];
const cid: JsonSchema = { type: ["string", "number"], maxLength: limits.maxCidLength };

export function emitAsyncApi(model: RegistryModel): readonly EmittedFile[] {
  const { realtime, service } = model;
  if (realtime === null) return [];
  const channels: Record<string, unknown> = {};
  const operations: Record<string, unknown> = {};
  const messages: Record<string, unknown> = {};
  const used = new Map<string, JsonSchema>();

  /** A message with a component of its own for its payload; returns the name of the message. */
  const message = (name: string, suffix: string, payload: JsonSchema): string => {
    let component = pascalCase(name) + suffix;
    while (Object.hasOwn(model.types, component) || used.has(component)) component += "_";
    used.set(component, published(payload, model, used));
    messages[name] = {
      name,
      title: name,
      contentType: "application/json",
      payload: { $ref: `#/components/schemas/${component}` },
    };
    return name;
  };
  const channel = (name: string, carries: readonly string[], extensions: object): void => {
    channels[name] = {
      address: name,
      title: name,
      messages: Object.fromEntries(
        carries.map((one) => [one, { $ref: `#/components/messages/${one}` }]),
      ),
      ...extensions,
    };
  };
  const carried = (at: string, name: string) => ({ $ref: `#/channels/${at}/messages/${name}` });
  const sends = (name: string, summary: string, payload: JsonSchema, extensions: object): void => {
    channel(name, [message(name, "Event", payload)], extensions);
    operations[`send.${name}`] = {
      action: "send",
      summary,
      channel: { $ref: `#/channels/${name}` },
      messages: [carried(name, name)],
      security,
    };
  };
  /** `answer` is what comes back where all goes well; null is nothing. */
  const receives = (
    name: string,
    summary: string,
    payload: JsonSchema,
    answer: JsonSchema | null,
    extensions: object,
  ): void => {
    const asked = message(name, "Frame", payload);
    const answered = answer === null ? [] : [message(`${name}.answer`, "Frame", acked(answer))];
    channel(name, [asked, ...answered], {});
    operations[`receive.${name}`] = {
      action: "receive",
      summary,
      channel: { $ref: `#/channels/${name}` },
      messages: [carried(name, asked)],
      ...(answered.length === 0
        ? {}
        : {
            reply: {
              channel: { $ref: `#/channels/${name}` },
              messages: answered.map((one) => carried(name, one)),
            },
          }),
      security,
      ...extensions,
    };
  };

  for (const [name, { typeName, audience, delivery }] of Object.entries(realtime.events)) {
    const id = delivery === "durable" ? text : { type: "null" };
    const envelope = objectSchema({ id, data: refTo(typeName) }, ["id", "data"]);
    const extensions = {
      "x-svc-audience-kinds": audience,
      "x-svc-offline-delivery": delivery === "durable",
    };
    sends(name, `${name}, to ${audience.join(" and ")}.`, envelope, extensions);
  }
  const built = (name: string, summary: string, members: Record<string, JsonSchema>): void => {
    const data = objectSchema(members, Object.keys(members));
    sends(name, summary, objectSchema({ id: { type: "null" }, data }, ["id", "data"]), {});
  };
  built("realtime.gap", "Entries that are no longer kept.", { from: count, to: count });
  if (realtime.presence) {
    const principals: JsonSchema = { type: "array", items: text };
    built("realtime.presence", "Who hears a topic.", { topic: text, principals, count });
    const moved = { topic: text, principal: text, count };
    built("realtime.joined", "A principal hears a topic from now on.", moved);
    built("realtime.left", "A principal hears a topic no longer.", moved);
  }
  const faulty = objectSchema({ type: { const: "error" }, error }, ["type", "error"]);
  sends("realtime.error", "A frame was none, and no answer could be told apart.", faulty, {});
  for (const [name, key] of Object.entries(realtime.commands)) {
    const operation = own(model.operations, key);
    const command = objectSchema(
      {
        type: { const: "cmd" },
        event: { const: name },
        cid,
        payload: operation?.input.schema ?? true,
        idempotency_key: { type: "string", pattern: idempotencyKeyPattern },
        deadline_budget: { type: "number", exclusiveMinimum: 0 },
      },
      ["type", "event", "cid", "payload"],
    );
    const output = operation?.output.schema ?? { type: "null" };
    receives(name, `Calls ${key}.`, command, output, { "x-svc-operation": key });
  }
  const ack = objectSchema({ type: { const: "realtime.ack" }, up_to: text }, ["type", "up_to"]);
  receives("realtime.ack", "Acknowledges everything up to an id.", ack, null, {});
  const auth = { type: "object", properties: { token: text }, required: ["token"] };
  const reauth = objectSchema({ type: { const: "realtime.reauth" }, cid, auth }, [
    "type",
    "cid",
    "auth",
  ]);
  const renewed = objectSchema({ ok: { const: true } }, ["ok"]);
  const aim = "Goes on with another token of the same caller.";
  receives("realtime.reauth", aim, reauth, renewed, {});

  return [
    documentFile("asyncapi.json", {
      asyncapi: "3.0.0",
      info: {
        title: service.title,
        version: service.version,
        ...(service.description === null ? {} : { description: service.description }),
        "x-svc-realtime-protocol": protocolVersion,
      },
      defaultContentType: "application/json",
      channels,
      operations,
      components: {
        messages,
        schemas: Object.fromEntries([...used].sort()),
        securitySchemes: { token: { type: "http", scheme: "bearer" } },
      },
    }),
  ];
}

/** What a WebSocket answers a frame with: its output, or an error. */
function acked(data: JsonSchema): JsonSchema {
  const members = { type: { const: "ack" }, cid };
  return {
    oneOf: [
      objectSchema({ ...members, data }, ["type", "cid", "data"]),
      objectSchema({ ...members, error }, ["type", "cid", "error"]),
    ],
  };
}

/** A schema whose references lead to components, which are noted. */
function published(
  schema: JsonSchema,
  model: RegistryModel,
  used: Map<string, JsonSchema>,
): JsonSchema {
  return mapSchema(schema, (inner) => {
    const type = referredType(inner);
    if (type === undefined) return inner;
    if (!used.has(type)) {
      used.set(type, true);
      used.set(type, published(model.types[type] ?? true, model, used));
    }
    return { ...inner, $ref: `#/components/schemas/${type}` };
  });
}
