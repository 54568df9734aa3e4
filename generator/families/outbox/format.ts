// `outbox:`: integration events and where they go.
import {
  deprecation,
  formerEvent,
  typeOrFields,
  mapOf,
  optional,
  reference,
  required,
} from "../../load/format-parts.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";

const outbox = {
  kind: "object",
  members: {
    events: required(
      mapOf(
        {
          kind: "object",
          members: {
            destination: required(
              {
                kind: "string",
                pattern: /^(?:[a-z][a-z0-9_]*|.+#.+)$/,
                what: "the name of a destination, or file#export",
                names: "value",
                example: "notifications",
              },
              "Where it goes: a name whose URL the deployment gives, or a function.",
            ),
            guard: optional(
              { kind: "name", of: "policies" },
              "Who may subscribe to it: a policy. Where left out, that of the document whose type `data` is, or else that of `webhooks`.",
            ),
            was: optional(
              formerEvent,
              "What it was called first: whatever waits, and whoever subscribes, keeps that name.",
            ),
            data: optional(typeOrFields, "What it carries; the events of opwright have theirs.", {
              order: "uuid",
            }),
            deprecated: optional(
              deprecation,
              "Since when it is deprecated, and when it may be gone.",
            ),
          },
        },
        /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/,
        "an event such as orders.placed",
        "orders.placed",
      ),
      "Integration events by name.",
    ),
    mail: optional(
      reference,
      "Makes mails of events that go to a mail server: a function of the type RenderMail.",
    ),
  },
} as const satisfies FormatShape;

declare module "../../load/declarations.js" {
  interface Declarations {
    readonly outbox: Declared<typeof outbox> | undefined;
  }
}

/** The sections of the registry that this family reads. */
export const format: Readonly<Record<string, Member>> = {
  outbox: optional(outbox, "Integration events and where they go."),
};
