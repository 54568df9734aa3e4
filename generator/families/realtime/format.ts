// The registry format of the realtime plane: events, commands, topics, retention.
import { wordsFor } from "../../load/other-words.js";
import { adviseWords } from "../../load/shape-advice.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";
import {
  deprecation,
  duration,
  formerEvent,
  typeOrFields,
  listOf,
  mapOf,
  mountPath,
  optional,
  reference,
  required,
  text,
} from "../../load/format-parts.js";

const eventName = /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;

const realtime = {
  kind: "object",
  members: {
    mount: optional(
      {
        kind: "object",
        members: { at: required(mountPath, "Where the endpoints are mounted.", "/realtime") },
      },
      "Where the endpoints are; /realtime where left out.",
    ),
    transports: optional(
      listOf({ kind: "oneOf", values: ["socketio", "sse", "websocket"] }, 1),
      "How clients connect; sse and websocket where left out. socketio needs the package socket.io.",
    ),
    topics: optional(reference, "Says which topics a caller may hear, as file#export."),
    presence: optional(
      { kind: "boolean" },
      "Whether those who hear a topic are told who joins and leaves it; false where left out.",
    ),
    retention: optional(
      {
        kind: "object",
        members: {
          age: optional(duration, "How long a signal waits; 7d where left out.", "7d"),
          entries: optional(
            { kind: "integer", minimum: 1 },
            "How many signals wait for one principal; 10000 where left out.",
          ),
        },
      },
      "How much a mailbox keeps.",
    ),
    events: required(
      mapOf(
        {
          kind: "object",
          otherWords: {
            ...wordsFor("data", "payload type schema body message"),
            ...wordsFor("to", "target channel recipient room"),
            ...wordsFor("delivery", "mode durability"),
          },
          members: {
            data: required(typeOrFields, "What it carries.", { task: "uuid" }),
            was: optional(formerEvent, "What it was called first: mailboxes keep that name."),
            audience: required(
              listOf(
                {
                  kind: "oneOf",
                  values: ["principal", "topic"],
                  advice: adviseWords({
                    user: "principal",
                    users: "principal",
                    room: "topic",
                    channel: "topic",
                  }),
                },
                1,
              ),
              "Who hears it: principals, or topics.",
            ),
            to: optional(
              text,
              'Whom a document sends it to: "{assignee}", a principal; or a topic such as "project:{project}".',
              "{assignee}",
            ),
            delivery: required(
              { kind: "oneOf", values: ["durable", "ephemeral"] },
              "durable waits in mailboxes; ephemeral reaches who is there.",
            ),
            deprecated: optional(
              deprecation,
              "Since when it is deprecated, and when it may be gone.",
            ),
          },
        },
        eventName,
        "an event such as task.assigned",
        "task.assigned",
      ),
      "Signals by name.",
    ),
    commands: optional(
      mapOf(
        {
          kind: "object",
          members: { operation: required(text, "The operation that it calls.", "tasks.comment") },
        },
        eventName,
        "an event such as task.comment",
        "task.comment",
      ),
      "Operations that frames call, by the name of their event.",
    ),
  },
} as const satisfies FormatShape;

export type RealtimeDeclaration = Declared<typeof realtime>;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly realtime: RealtimeDeclaration | undefined;
  }
}

/** The sections of the registry that this family reads. */
export const format: Readonly<Record<string, Member>> = {
  realtime: {
    ...optional(realtime, "Signals to people who are connected, and commands from them."),
    alsoCalled: ["events", "websocket", "websockets", "sockets", "channels", "subscriptions"],
  },
};
