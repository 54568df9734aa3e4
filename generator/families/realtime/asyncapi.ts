// asyncapi.json: AsyncAPI 3.0 of the realtime plane (service.md "AsyncAPI description").
import { deprecationFacts, deprecationText } from "../../model/deprecation.js";
import { protocolVersion } from "../../../runtime/contract/realtime.js";
import { objectSchema, refTo, type JsonSchema } from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import type { RealtimeModel } from "./model.js";
import type { LicenseModel, RegistryModel } from "../../model/registry.js";
import { documentFile, type EmittedFile } from "../../print/file.js";
import { endpointOf, connectionsOf, transportsOf } from "./asyncapi-connections.js";
import { addFrames } from "./asyncapi-frames.js";
import { AsyncApiParts, envelope, ephemeralEnvelope, text, traceparent } from "./asyncapi-parts.js";

const count: JsonSchema = { type: "integer", minimum: 0 };

const titles = { websocket: "WebSocket", socketio: "Socket.IO", sse: "Server-Sent Events" };

function withoutIdentifier({ identifier: _identifier, ...license }: LicenseModel): object {
  return license;
}

/**
 * The document; none if there is no realtime plane. One transport has a channel for each event,
 * others one for all.
 */
export function emitAsyncApi(model: RegistryModel): readonly EmittedFile[] {
  const { realtime, service } = model;
  if (realtime === null) return [];
  const [carrier = "websocket", ...others] = transportsOf(realtime);
  const parts = new AsyncApiParts(model.types, endpointOf(carrier));
  addEvents(parts, realtime);
  addEventsOfProtocol(parts, realtime);
  if (carrier !== "sse") addFrames(parts, model, carrier, null);
  for (const one of others) {
    parts.sendsAll(one, `The same signals over ${titles[one]}.`, endpointOf(one));
    if (one !== "sse") addFrames(parts, model, one, one);
  }
  const { servers, ...components } = connectionsOf(parts, realtime, model.identity);
  return [
    documentFile("asyncapi.json", {
      asyncapi: "3.0.0",
      info: {
        title: service.title,
        version: service.version,
        ...(service.description === null ? {} : { description: service.description }),
        ...(service.contact === null ? {} : { contact: service.contact }),
        // AsyncAPI licenses have no SPDX identifier.
        ...(service.license === null ? {} : { license: withoutIdentifier(service.license) }),
        "x-svc-realtime-protocol": protocolVersion,
      },
      defaultContentType: "application/json",
      servers,
      channels: parts.channels,
      operations: parts.operations,
      components: {
        messages: parts.messages,
        schemas: Object.fromEntries([...parts.schemas].sort()),
        ...components,
      },
    }),
  ];
}

/** The signals that the registry declares. */
function addEvents(parts: AsyncApiParts, realtime: RealtimeModel): void {
  for (const [name, { typeName, audience, delivery, deprecated }] of Object.entries(
    realtime.events,
  )) {
    const data = refTo(typeName);
    const payload = {
      ...(delivery === "durable"
        ? envelope({ id: text, data }, { traceparent })
        : ephemeralEnvelope(data)),
      // AsyncAPI knows `deprecated` in schemas only.
      ...(deprecated === null ? {} : { deprecated: true }),
    };
    const extensions = {
      "x-svc-audience-kinds": audience,
      "x-svc-offline-delivery": delivery === "durable",
      ...(deprecated === null
        ? {}
        : {
            description: deprecationText(deprecated),
            "x-deprecated": deprecationFacts(deprecated),
          }),
    };
    parts.sends(name, `${name}, to ${audience.join(" and ")}.`, payload, extensions);
  }
}

/** Events of the realtime plane itself. */
function addEventsOfProtocol(parts: AsyncApiParts, realtime: RealtimeModel): void {
  const built = (
    name: string,
    summary: string,
    members: Record<string, JsonSchema>,
    optional: Record<string, JsonSchema> = {},
  ): void => {
    const data = parts.named(
      `${pascalCase(name)}Data`,
      objectSchema({ ...members, ...optional }, Object.keys(members)),
    );
    parts.sends(name, summary, envelope({ id: { type: "null" }, data }));
  };
  const topics: JsonSchema = { type: "array", items: text };
  built(
    "realtime.gap",
    "Entries that are no longer kept; with `topics`, signals on these may have been lost: look again.",
    { from: count, to: count },
    { topics },
  );
  built("realtime.unsubscribed", "Topics that the caller may not hear any more.", {
    topics,
    code: text,
  });
  const removed = objectSchema({ topic: text, event: text, id: text }, ["topic", "event", "id"]);
  parts.sends(
    "realtime.removed",
    "A document has left a topic, which an event told of it.",
    ephemeralEnvelope(parts.named("RealtimeRemovedData", removed)),
  );
  if (realtime.presence) {
    const principals: JsonSchema = { type: "array", items: text };
    built("realtime.presence", "Who hears a topic: some by name, all of them counted.", {
      topic: text,
      principals,
      count,
    });
    const moved = { topic: text, principal: text, count };
    built("realtime.joined", "A principal hears a topic from now on.", moved);
    built("realtime.left", "A principal hears a topic no longer.", moved);
  }
  const faulty = envelope({ type: { const: "error" }, error: parts.error });
  parts.sends("realtime.error", "A frame was none, and no answer could be told apart.", faulty);
}
