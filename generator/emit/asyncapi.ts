// asyncapi.json: AsyncAPI 3.0 of the realtime plane (service.md "AsyncAPI description").
import {
  mapSchema,
  objectSchema,
  referredType,
  refTo,
  type JsonSchema,
} from "../model/json-schema.js";
import { own } from "../model/records.js";
import type { RegistryModel } from "../model/registry.js";
import { jsonFile, type EmittedFile } from "./file.js";

const protocolVersion = 1;
const text: JsonSchema = { type: "string", minLength: 1 };
const cid: JsonSchema = { type: ["string", "number"], maxLength: 1_024 };

export function emitAsyncApi(model: RegistryModel): readonly EmittedFile[] {
  const { realtime, service } = model;
  if (realtime === null) return [];
  const channels: Record<string, unknown> = {};
  const operations: Record<string, unknown> = {};
  const messages: Record<string, unknown> = {};
  const used = new Map<string, JsonSchema>();

  const add = (
    name: string,
    action: "send" | "receive",
    summary: string,
    payload: JsonSchema,
    extensions: object,
  ): void => {
    const id = name.replaceAll(".", "_");
    messages[id] = {
      name,
      title: name,
      contentType: "application/json",
      payload: published(payload, model, used),
    };
    channels[id] = {
      address: name,
      title: name,
      messages: { [id]: { $ref: `#/components/messages/${id}` } },
      ...extensions,
    };
    operations[id] = {
      action,
      summary,
      channel: { $ref: `#/channels/${id}` },
      messages: [{ $ref: `#/channels/${id}/messages/${id}` }],
    };
  };

  for (const [name, { typeName, audience, delivery }] of Object.entries(realtime.events)) {
    const id = delivery === "durable" ? text : { type: "null" };
    const envelope = objectSchema({ id, data: refTo(typeName) }, ["id", "data"]);
    const extensions = {
      "x-svc-audience-kinds": audience,
      "x-svc-offline-delivery": delivery === "durable",
    };
    add(name, "send", `${name}, to ${audience.join(" and ")}.`, envelope, extensions);
  }
  const count: JsonSchema = { type: "integer", minimum: 0 };
  const built = (name: string, summary: string, members: Record<string, JsonSchema>): void => {
    const data = objectSchema(members, Object.keys(members));
    add(name, "send", summary, objectSchema({ id: { type: "null" }, data }, ["id", "data"]), {});
  };
  built("realtime.gap", "Entries that are no longer kept.", { from: count, to: count });
  if (realtime.presence) {
    const principals: JsonSchema = { type: "array", items: text };
    built("realtime.presence", "Who hears a topic.", { topic: text, principals, count });
    const moved = { topic: text, principal: text, count };
    built("realtime.joined", "A principal hears a topic from now on.", moved);
    built("realtime.left", "A principal hears a topic no longer.", moved);
  }
  for (const [name, key] of Object.entries(realtime.commands)) {
    const input = own(model.operations, key)?.input.schema ?? true;
    const command = objectSchema(
      {
        type: { const: "cmd" },
        event: { const: name },
        cid,
        payload: input,
        idempotency_key: { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" },
        deadline_budget: { type: "number", exclusiveMinimum: 0 },
      },
      ["type", "event", "cid", "payload"],
    );
    add(name, "receive", `Calls ${key}.`, command, {});
  }
  const ack = objectSchema({ type: { const: "realtime.ack" }, up_to: text }, ["type", "up_to"]);
  add("realtime.ack", "receive", "Acknowledges everything up to an id.", ack, {});
  const reauth = objectSchema(
    { type: { const: "realtime.reauth" }, cid, auth: objectSchema({ token: text }, ["token"]) },
    ["type", "cid", "auth"],
  );
  add("realtime.reauth", "receive", "Goes on with another token of the same caller.", reauth, {});

  return [
    jsonFile("asyncapi.json", {
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
      components: { messages, schemas: Object.fromEntries([...used].sort()) },
    }),
  ];
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
