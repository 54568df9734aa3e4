// What clients send over duplex transports, for AsyncAPI: commands, acknowledgements,
// re-authentication.
import { idempotencyKeyPattern } from "../../../runtime/contract/limits.js";
import { maxTopicLength, maxTopics } from "../../../runtime/contract/realtime.js";
import { objectSchema, type JsonSchema } from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import { own } from "../../model/records.js";
import type { RegistryModel } from "../../model/registry.js";
import {
  envelope,
  text,
  traceparent,
  type AsyncApiParts,
  type Received,
} from "./asyncapi-parts.js";

/** Transports that take frames. */
export type Duplex = "websocket" | "socketio";

/** The content of a frame, whatever its transport. */
interface Said {
  readonly name: string;
  readonly summary: string;
  readonly payload: JsonSchema;
  /** The output in the answer if the frame succeeds. */
  readonly output: JsonSchema;
  readonly extensions?: object;
}

/** How a transport encodes what clients send. */
interface Dialect {
  command(said: Said): Received;
  acknowledgement(name: string, summary: string): Received;
  reauthentication(said: Said): Received;
  subscription(said: Said): Received;
}

/**
 * Adds every frame that clients may send over a transport; `over` is as in
 * `AsyncApiParts.receives`.
 */
export function addFrames(
  parts: AsyncApiParts,
  model: RegistryModel,
  transport: Duplex,
  over: string | null,
): void {
  const dialect = transport === "websocket" ? webSocket(parts) : socketIo(parts);
  for (const [name, key] of Object.entries(model.realtime?.commands ?? {})) {
    const operation = own(model.operations, key);
    const said = {
      name,
      summary: `Calls ${key}.`,
      payload: parts.named(`${pascalCase(name)}Payload`, operation?.input.schema ?? true),
      output: operation?.output.schema ?? { type: "null" },
      extensions: { "x-svc-operation": key },
    };
    parts.receives(dialect.command(said), over);
  }
  const aim = "Acknowledges everything up to an id.";
  parts.receives(dialect.acknowledgement("realtime.ack", aim), over);
  const renewal = dialect.reauthentication({
    name: "realtime.reauth",
    summary: "Goes on with another token of the same caller.",
    payload: parts.named("RealtimeReauthAuth", given),
    output: renewed,
  });
  parts.receives(renewal, over);
  for (const [name, summary] of subscribing)
    parts.receives(
      dialect.subscription({
        name,
        summary,
        payload: parts.named("RealtimeTopics", topicsGiven),
        output: parts.named("RealtimeTopicsHeard", topicsHeard),
      }),
      over,
    );
}

const subscribing = [
  ["realtime.subscribe", "Hears these topics as well."],
  ["realtime.unsubscribe", "Hears these topics no longer."],
] as const;

const topicName: JsonSchema = { type: "string", minLength: 1, maxLength: maxTopicLength };
const topicNames: JsonSchema = {
  type: "array",
  items: topicName,
  minItems: 1,
  maxItems: maxTopics,
};
const topicsGiven: JsonSchema = {
  type: "object",
  properties: { topics: topicNames },
  required: ["topics"],
};
/** All that are heard then. */
const topicsHeard: JsonSchema = envelope({ topics: { type: "array", items: topicName } });

const given: JsonSchema = { type: "object", properties: { token: text }, required: ["token"] };
const renewed = objectSchema({ ok: { const: true } }, ["ok"]);

/** The options of a command besides its payload. */
const options = {
  idempotency_key: { type: "string", pattern: idempotencyKeyPattern },
  deadline_budget: { type: "number", exclusiveMinimum: 0 },
  traceparent,
};

/** A frame. It is open, as envelopes are: members that the service does not know are ignored. */
function frame(
  required: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}

/** Frames are objects with a type; an answer has the `cid` of its frame. */
function webSocket(parts: AsyncApiParts): Dialect {
  const { cid, error } = parts;
  const failed = envelope({ type: { const: "ack" }, cid, error });
  const answer = ({ name, output }: Said): JsonSchema => {
    const data = parts.named(`${pascalCase(name)}Output`, output);
    const done = envelope({ type: { const: "ack" }, cid, data });
    return {
      oneOf: [parts.named(`${pascalCase(name)}Ack`, done), parts.named("ErrorAck", failed)],
    };
  };
  return {
    command: (said) => ({
      ...said,
      payload: frame(
        { type: { const: "cmd" }, event: { const: said.name }, cid, payload: said.payload },
        options,
      ),
      answer: answer(said),
    }),
    acknowledgement: (name, summary) => ({
      name,
      summary,
      payload: frame({ type: { const: name }, up_to: text }),
      answer: null,
    }),
    reauthentication: (said) => ({
      ...said,
      payload: frame({ type: { const: said.name }, cid, auth: said.payload }),
      answer: answer(said),
    }),
    subscription: (said) => ({
      ...said,
      payload: frame({ type: { const: said.name }, cid, topics: topicNames }),
      answer: answer(said),
    }),
  };
}

/**
 * Frames are events whose argument is the payload; the answer is the argument of the callback that
 * comes after it.
 */
function socketIo(parts: AsyncApiParts): Dialect {
  const failed = envelope({ error: parts.error });
  const answered = (name: string, done: JsonSchema): JsonSchema => ({
    oneOf: [
      parts.named(`${pascalCase(`socketio.${name}`)}Ack`, done),
      parts.named("SocketioErrorAck", failed),
    ],
  });
  const emitted = "`emit(event, payload, answer)`";
  return {
    command: ({ output, ...said }) => ({
      ...said,
      summary: `${said.summary} \`emit(event, payload, headers?, answer)\`.`,
      headers: parts.named("SocketioCommandOptions", commandOptions),
      answer: answered(
        said.name,
        envelope({ data: parts.named(`${pascalCase(said.name)}Output`, output) }),
      ),
    }),
    acknowledgement: (name, summary) => ({
      name,
      summary: `${summary} ${emitted}.`,
      payload: { type: "object", properties: { up_to: text }, required: ["up_to"] },
      answer: answered(name, envelope({ acked: { type: "boolean" } })),
    }),
    reauthentication: ({ output: _output, ...said }) => ({
      ...said,
      summary: `${said.summary} ${emitted}.`,
      answer: answered(said.name, envelope({ ok: { const: true } })),
    }),
    subscription: ({ output, ...said }) => ({
      ...said,
      summary: `${said.summary} ${emitted}.`,
      answer: answered(said.name, output),
    }),
  };
}

const commandOptions: JsonSchema = { type: "object", properties: options };
