// What the plane answers over HTTP besides its streams, for openapi.json: these operations aren't
// in the table of routes.
import {
  devicePattern,
  maxHistoryPage,
  maxPresencePage,
  maxTopicLength,
  protocolVersion,
  topicsInQuery,
  topicsPattern,
  pathsOfPlane,
  planePaths,
} from "../../../runtime/contract/realtime.js";
import { jsonOutput, operation } from "../../kernel/operation.js";
import { principalHook } from "../../kernel/runtime-hooks.js";
import { callOf, ofRuntime } from "../../model/code.js";
import { nullable, objectSchema, type JsonSchema } from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import {
  usualBody,
  type OperationModel,
  type ParameterModel,
  type RegistryModel,
} from "../../model/registry.js";
import { traceparent } from "./asyncapi-parts.js";

const text: JsonSchema = { type: "string", minLength: 1 };
const position: JsonSchema = { type: "integer", minimum: 1 };

/**
 * A signal of a mailbox. Its data may be anything: the event may have had another type when the
 * signal was stored.
 */
const signal: JsonSchema = {
  type: "object",
  properties: { event: text, id: text, data: true, traceparent },
  required: ["event", "id", "data"],
};

const history = objectSchema(
  {
    signals: { type: "array", items: signal, maxItems: maxHistoryPage },
    gap: {
      ...(nullable(objectSchema({ from: position, to: position }, ["from", "to"])) as object),
      description: "What retention has removed before the first of them.",
    },
    has_more: { type: "boolean" },
    after: { ...text, description: "The id behind which the page begins." },
  },
  ["signals", "gap", "has_more", "after"],
);

const devices = objectSchema(
  {
    devices: {
      type: "array",
      items: objectSchema(
        {
          device_id: {
            ...(nullable(text) as object),
            description: "Null for all connections without a device, which share a cursor.",
          },
          unacknowledged: {
            type: "integer",
            minimum: 0,
            description: "How many signals of the mailbox it has not acknowledged.",
          },
          acknowledged_at: { type: "string", format: "date-time" },
        },
        ["device_id", "unacknowledged", "acknowledged_at"],
      ),
    },
  },
  ["devices"],
);

const present = objectSchema(
  {
    topic: text,
    principals: { type: "array", items: text, maxItems: maxPresencePage },
    count: { type: "integer", minimum: 0, description: "How many there are in all." },
    has_more: { type: "boolean" },
  },
  ["topic", "principals", "count", "has_more"],
);

const pageParameters = [
  inQuery("after", { type: "string", description: "The id of a signal of the caller's." }),
  inQuery("limit", { type: "integer", minimum: 1, maximum: maxHistoryPage }),
  inQuery("device_id", {
    type: "string",
    pattern: devicePattern,
    description: "Without `after`: begins where this device is.",
  }),
  inQuery("from", {
    type: "string",
    const: "now",
    description: "Without `after`: where a device begins that has no cursor.",
  }),
];

/**
 * Reading the mailbox's history, its devices, who hears a topic and, with Server-Sent Events,
 * acknowledging signals. None if there is no plane.
 */
export function answeredOperations(model: RegistryModel): readonly OperationModel[] {
  const { realtime, identity } = model;
  if (realtime === null || identity === null) return [];
  const { header, host } = identity.tenantHints;
  const ofCaller = [
    "core.authentication",
    "tenant_mismatch",
    "tenant_inactive",
    ...(header || host !== null ? ["tenant_conflict"] : []),
  ];
  const hasCookie = identity.ingress.some(({ kind }) => kind === "cookie");
  return [
    answeredOperation({
      name: "history",
      summary: "Read the caller's mailbox, which acknowledges nothing",
      method: "GET",
      path: realtime.path + planePaths.history,
      parameters: pageParameters,
      body: null,
      output: history,
      errors: ofCaller,
    }),
    answeredOperation({
      name: "devices",
      summary: "List the caller's devices, and how far each has acknowledged",
      method: "GET",
      path: realtime.path + planePaths.devices,
      parameters: [],
      body: null,
      output: devices,
      errors: ofCaller,
    }),
    ...(realtime.presence ? [presenceOperation(realtime.path, ofCaller)] : []),
    ...(realtime.transports.includes("sse")
      ? [
          acknowledgeOperation(realtime.path, [
            ...ofCaller,
            ...(hasCookie ? ["origin_forbidden"] : []),
          ]),
        ]
      : []),
  ];
}

function acknowledgeOperation(path: string, ofCaller: readonly string[]): OperationModel {
  return answeredOperation({
    name: "acknowledge",
    summary: "Acknowledge every signal up to an id",
    method: "POST",
    path: path + planePaths.acknowledge,
    parameters: [
      inQuery("device_id", {
        type: "string",
        pattern: devicePattern,
        description: "The device of the stream, whose cursor moves.",
      }),
      // The other parameters of a handshake are allowed too, so that clients can use one
      // query for both.
      inQuery("protocol", {
        type: "string",
        const: String(protocolVersion),
        description: "The version of the protocol.",
      }),
      inQuery("topics", {
        type: "string",
        pattern: topicsPattern,
        description: `Of the stream alone. ${topicsInQuery}`,
      }),
      inQuery("last_event_id", {
        type: "string",
        description: "Of the stream alone: what is acknowledged stands in the body.",
      }),
      inQuery("from", {
        type: "string",
        const: "now",
        description: "Of the stream alone: where a device begins that has no cursor.",
      }),
    ],
    body: objectSchema({ up_to: text }, ["up_to"]),
    output: objectSchema(
      { acked: { type: "boolean", description: "false for an id that is none." } },
      ["acked"],
    ),
    errors: [
      ...ofCaller,
      "realtime_origin_forbidden",
      "realtime_protocol_unsupported",
      "realtime_topics_limit",
    ],
  });
}

function presenceOperation(path: string, ofCaller: readonly string[]): OperationModel {
  const topic = inQuery("topic", { type: "string", minLength: 1, maxLength: maxTopicLength });
  return answeredOperation({
    name: "presence",
    summary: "Name those who hear a topic, in the order of their ids",
    method: "GET",
    path: path + planePaths.presence,
    parameters: [
      { ...topic, required: true },
      inQuery("after", { type: "string", description: "The last id of the page before." }),
      inQuery("limit", { type: "integer", minimum: 1, maximum: maxPresencePage }),
    ],
    body: null,
    output: present,
    errors: [...ofCaller, "realtime_topics_unauthorized"],
  });
}

/** The paths that the plane answers, whatever the method. */
export function answeredPaths({ realtime }: RegistryModel): readonly string[] {
  return realtime === null ? [] : ["/asyncapi.json", ...pathsOfPlane(realtime)];
}

function inQuery(name: string, schema: JsonSchema): ParameterModel {
  return { name, in: "query", type: "string", required: false, schema };
}

interface Answered {
  readonly name: string;
  readonly summary: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly parameters: readonly ParameterModel[];
  readonly body: JsonSchema | null;
  readonly output: JsonSchema;
  readonly errors: readonly string[];
}

function answeredOperation(given: Answered): OperationModel {
  const { name, summary, method, path, parameters, body, output, errors } = given;
  const typeName = `${pascalCase(`realtime.${name}`)}Input`;
  const hooks = [principalHook];
  return operation(
    { namespace: "realtime", name, family: "realtime", source: "", guard: "principal", hooks },
    {
      summary,
      input: {
        schema: body ?? true,
        typeName,
        parameters,
        body: body === null ? null : { as: "input", ...usualBody, schema: body, typeName },
        read: "parts",
      },
      output: jsonOutput(output),
      deadlineSeconds: null,
      transaction: "read",
      route: { method, path, isPrefixRoot: false, status: 200, reply: null },
      run: callOf(ofRuntime(`realtime.${name}`)),
      effect: method === "GET" ? "reads" : "repeats",
      isTool: false,
      errors,
    },
  );
}
